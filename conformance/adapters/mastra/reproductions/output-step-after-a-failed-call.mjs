import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const called = [];
const agent = agentWith({
  turns: [new Error('overloaded')],
  inputProcessors: [{ id: 'witness', processLLMResponse: () => void called.push('processLLMResponse') }],
  errorProcessors: [{ id: 'mend', processAPIError: () => void called.push('processAPIError') }],
  outputProcessors: [{ id: 'guard', processOutputStep: () => void called.push('processOutputStep') }],
});
await assert.rejects(agent.generate('hi'), /overloaded/);

assert.deepEqual(called, ['processLLMResponse', 'processAPIError', 'processOutputStep']);
sees('A model call that failed is handed to processLLMResponse and processOutputStep like an answer.');
