import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const agent = agentWith({
  turns: [new Error('busy'), new Error('busy'), say('done')],
  errorProcessors: [{ id: 'mend', processAPIError: () => ({ retry: true }) }],
  maxProcessorRetries: 3,
});
const { text, finishReason, error } = await agent.generate('hi', { maxSteps: 1 });

assert.deepEqual([text, finishReason, error], ['', 'retry', undefined]);
sees('Calls repeated after a failure use up the step limit: the run ends without an answer and without an error.');
