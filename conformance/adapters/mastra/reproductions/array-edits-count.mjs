import assert from 'node:assert/strict';
import { agentWith, message, say, scripted, sees, textOf } from './support/scripted.mjs';

const model = scripted(say('hello'));
const drops = { id: 'drops', processInputStep: ({ messages }) => void messages.shift() };
await agentWith({ model, inputProcessors: [drops] }).generate([message('u1', 'first'), message('u2', 'second')]);
assert.doesNotMatch(JSON.stringify(model.calls[0]), /first/);

const seen = [];
const looks = { id: 'looks', processInput: ({ messages }) => void seen.push(messages.map(textOf)) };
const pops = { id: 'pops', processInput: ({ messages }) => void messages.pop() };
await agentWith({ inputProcessors: [pops, looks] }).generate([message('u1', 'first'), message('u2', 'second')]);
assert.deepEqual(seen, [['first']]);
sees('What a processor pops off its array while it looks at it is gone for the next one, and from a step\'s prompt.');
