import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const kept = { pin: '1234' };
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => kept),
  outputProcessors: [{ id: 'redacts', processToolResult: ({ result }) => void Object.assign(result, { pin: '****' }) }],
});
await agent.generate('hi');

assert.deepEqual(kept, { pin: '****' });
sees("What a processor does to a tool's result is done to the tool's own object.");
