import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const later = [];
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => 'raw'),
  outputProcessors: [
    { id: 'removes', processToolResult: ({ messageList }) => void messageList.clear.response.db() },
    { id: 'looks', processToolResult: ({ result }) => void later.push(result) },
  ],
});
const chunks = await readAll(await agent.stream('hi'));

assert.deepEqual(later, ['raw']);
assert.equal(chunks.find(({ type }) => type === 'tool-result').payload.result, 'raw');
sees('The result of a call that a processor has taken out still reaches the client and the later processors.');
