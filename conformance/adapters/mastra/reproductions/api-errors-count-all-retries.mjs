import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const counts = [];
let rejected = false;
const agent = agentWith({
  turns: [say('bad'), new Error('overloaded'), say('good')],
  maxProcessorRetries: 5,
  outputProcessors: [{
    id: 'guard',
    processOutputStep({ abort }) {
      if (rejected) return;
      rejected = true;
      abort('again', { retry: true });
    },
  }],
  errorProcessors: [{
    id: 'mend',
    processAPIError({ retryCount }) {
      counts.push(retryCount);
      return { retry: true };
    },
  }],
});
await agent.generate('hi');

assert.deepEqual(counts, [1]);
sees('retryCount in processAPIError counts rejected answers too, so a recovery that may be tried once is not tried.');
