import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), callTool('c2'), say('done'));
let rejected = false;
const agent = agentWith({
  model,
  tools: lookup(),
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStep({ abort }) {
      if (rejected) return;
      rejected = true;
      abort('look elsewhere', { retry: true });
    },
  }],
});
await agent.generate('hi');

assert.match(JSON.stringify(model.calls[1]), /look elsewhere/);
assert.match(JSON.stringify(model.calls[2]), /look elsewhere/);
sees('The feedback on a rejected attempt stays in all later prompts, also after a step was accepted.');
