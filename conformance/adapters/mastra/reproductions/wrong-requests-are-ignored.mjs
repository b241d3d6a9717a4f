import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

for (const wrong of ['text', [], 3, { promt: [] }]) {
  const model = scripted(say('hello'));
  const inputProcessors = [{ id: 'slips', processLLMRequest: () => wrong }];

  assert.equal((await agentWith({ model, inputProcessors }).generate('hi')).text, 'hello');
  assert.equal(model.calls.length, 1);
}
const inputProcessors = [{ id: 'slips', processLLMRequest: () => ({ response: {} }) }];
await assert.rejects(agentWith({ inputProcessors }).generate('hi'), error => !error.message.includes('slips'));

sees('What processLLMRequest returns in a wrong form is ignored, or fails without naming the processor.');
