import assert from 'node:assert/strict';
import { agentWith, message, say, scripted, sees } from './support/scripted.mjs';

const twice = [message('u1', 'first'), message('u1', 'second')];
const model = scripted(say('hello'));
await agentWith({ model }).generate(twice);
assert.doesNotMatch(JSON.stringify(model.calls[0]), /first.*second/);

const asked = scripted(say('hello'));
await agentWith({ model: asked, inputProcessors: [{ id: 'doubles', processInput: () => twice }] }).generate('hi');
assert.doesNotMatch(JSON.stringify(asked.calls[0]), /first.*second/);
sees('Of two messages with one id, in the input or returned by a hook, one is lost without a word.');
