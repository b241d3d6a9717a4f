import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

let rejected = false;
const agent = agentWith({
  turns: [say('bad'), say('good')],
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStep({ abort }) {
      if (rejected) return;
      rejected = true;
      abort('again', { retry: true });
    },
  }],
});
const { steps } = await agent.generate('hi');

assert.deepEqual(steps.map(step => step.text), ['', 'good']);
sees('A rejected attempt is a step of the result, without its text.');
