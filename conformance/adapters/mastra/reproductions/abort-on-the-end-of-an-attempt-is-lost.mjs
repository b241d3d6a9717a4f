import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees, settle } from './support/scripted.mjs';

const model = scripted(say('bad'), say('good'));
let rejected = false;
const agent = agentWith({
  model,
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStream: ({ part, abort }) =>
      part.type === 'step-finish' && part.payload.stepResult.reason === 'retry' ? abort('enough') : part,
    processOutputStep({ abort }) {
      if (rejected) return;
      rejected = true;
      abort('again', { retry: true });
    },
  }],
});
await agent.generate('hi');
await settle();

assert.equal(model.calls.length, 2);
sees('An abort on the step-finish of a rejected attempt does not keep the model from being called again.');
