import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const counts = { processOutputStream: [], processOutputStep: [] };
const agent = agentWith({
  turns: [say('bad'), say('good')],
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStream({ part, retryCount }) {
      if (part.type === 'text-delta') counts.processOutputStream.push(retryCount);
      return part;
    },
    processOutputStep({ retryCount, abort }) {
      counts.processOutputStep.push(retryCount);
      if (retryCount === 0) abort('again', { retry: true });
    },
  }],
});
await agent.generate('hi');

assert.deepEqual(counts, { processOutputStream: [0, 0], processOutputStep: [0, 1] });
sees('retryCount is 0 in processOutputStream in every attempt.');
