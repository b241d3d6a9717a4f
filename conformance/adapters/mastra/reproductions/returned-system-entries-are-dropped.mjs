import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const hints = {
  id: 'hints',
  processInputStep: ({ messages }) => [{ role: 'system', content: 'Be brief.' }, ...messages],
};
await agentWith({ model, inputProcessors: [hints] }).generate('hi');

assert.doesNotMatch(JSON.stringify(model.calls[0]), /Be brief/);
sees('A message of role system that a hook returns reaches the next processor, and not the model.');
