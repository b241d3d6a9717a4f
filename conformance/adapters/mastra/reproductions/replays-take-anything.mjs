import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

for (const chunk of [{ payload: { id: 't', text: 'kept' } }, { type: 'text-delta', payload: { id: 't' } }, 'kept']) {
  const inputProcessors = [{ id: 'slips', processLLMRequest: () => ({ response: { chunks: [chunk] } }) }];

  assert.notEqual((await agentWith({ inputProcessors }).generate('hi')).text, 'hello');
}
sees('A replay of what are no chunks is an answer, and as a rule an empty one.');
