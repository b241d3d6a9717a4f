import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const happened = [];
const call = { toolCallId: 'p1', toolName: 'search', providerExecuted: true };
const agent = agentWith({
  turns: [[
    { type: 'tool-call', input: '{}', ...call },
    { type: 'tool-result', result: 'raw', ...call },
    ...say('done'),
  ]],
  outputProcessors: [{
    id: 'scanner',
    processOutputStream: ({ part }) => happened.push(part.type) && part,
    processToolResult: () => void happened.push('processToolResult'),
  }],
});
await readAll(await agent.stream('hi'));

assert.ok(happened.includes('processToolResult'));
assert.ok(happened.indexOf('tool-result') < happened.indexOf('processToolResult'));
sees('A result that the provider sends goes to the client before processToolResult could scan it.');
