import assert from 'node:assert/strict';
import { agentWith, message, remembering, say, scripted, sees, textOf, thread } from './support/scripted.mjs';

const at = minute => new Date(Date.UTC(2026, 0, 1, 10, minute));
const { memory } = await remembering([
  { ...message('q0', 'before'), createdAt: at(0) },
  { ...message('a0', 'answered', 'assistant'), createdAt: at(1) },
]);
const seen = [];
const looks = { id: 'looks', processInput: ({ messages }) => void seen.push(messages.map(textOf)) };
const model = scripted(say('hello'));
const whole = [message('q0', 'before'), message('a0', 'answered', 'assistant'), message('u1', 'hi')];
const options = { lastMessages: 1 };
await agentWith({ model, memory, inputProcessors: [looks] }).generate(whole, { memory: { ...thread.memory, options } });

assert.deepEqual(seen, [['answered', 'hi']]);
assert.doesNotMatch(JSON.stringify(model.calls[0]), /before/);
sees('A client sends the whole conversation, and what is older than the messages recalled is left out of it.');
