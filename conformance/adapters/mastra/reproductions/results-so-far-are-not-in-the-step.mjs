import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const seen = [];
const agent = agentWith({
  turns: [callTool('c1', 'c2'), say('done')],
  tools: lookup(),
  outputProcessors: [{ id: 'looks', processToolResult: ({ steps }) => void seen.push(steps.at(-1).toolResults.length) }],
});
await agent.generate('hi');

assert.deepEqual(seen, [0, 0]);
sees('In processToolResult the current step has no results, also not those of the calls before.');
