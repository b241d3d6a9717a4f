import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const call = { toolCallId: 'p1', toolName: 'search', providerExecuted: true };
const seen = [];
const agent = agentWith({
  turns: [
    [{ type: 'tool-call', input: '{"q":"oslo"}', ...call }, ...callTool('c1')],
    [{ type: 'tool-result', result: 'found', ...call }, ...say('done')],
  ],
  tools: lookup(),
  outputProcessors: [{ id: 'scanner', processToolResult: ({ toolName, args }) => void seen.push([toolName, args]) }],
});
await readAll(await agent.stream('hi'));

assert.deepEqual(seen.find(([name]) => name === 'search'), ['search', undefined]);
sees("processToolResult is not told the arguments of a call that the provider executed.");
