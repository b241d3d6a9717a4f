import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const seen = [];
const edit = {
  id: 'edit',
  processInputStep({ providerOptions }) {
    seen.push(providerOptions.mock.depth);
    providerOptions.mock.depth += 1;
  },
};
const model = scripted(callTool('c1'), say('done'));
const agent = agentWith({
  model, tools: lookup(), inputProcessors: [edit], defaultOptions: { providerOptions: { mock: { depth: 1 } } },
});
await agent.generate('hi');
await agent.generate('again');

assert.deepEqual(seen, [1, 2, 3]);
sees('What a processor edits in place in providerOptions is there in later steps, and in later requests.');
