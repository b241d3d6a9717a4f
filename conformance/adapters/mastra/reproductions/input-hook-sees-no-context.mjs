import assert from 'node:assert/strict';
import { agentWith, scripted, say, sees, textOf } from './support/scripted.mjs';

const seen = [];
const model = scripted(say('hello'));
const agent = agentWith({
  model,
  inputProcessors: [{ id: 'scanner', processInput: ({ messages }) => void seen.push(messages.map(textOf)) }],
});
await agent.generate('the question', { context: [{ role: 'user', content: 'the context' }] });

assert.deepEqual(seen, [['the question']]);
assert.match(JSON.stringify(model.calls[0]), /the context/);
sees('Context messages reach the model unseen by processInput, so an input scanner cannot scan them.');
