import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const empties = { id: 'empties', processLLMRequest: () => ({ prompt: [] }) };
const takes = { id: 'takes', processInput: () => [] };
for (const processor of [empties, takes]) {
  const model = scripted(say('hello'));
  const agent = agentWith({ model, instructions: '', inputProcessors: [processor] });

  assert.equal((await agent.generate('hi')).text, 'hello');
  assert.deepEqual(model.calls, [[]]);
}
sees('An empty prompt, whoever emptied it, is sent to the provider.');
