import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const call = { toolCallId: 'p1', toolName: 'search', providerExecuted: true };
const found = [];
function redacts({ messageList, toolCallId, toolName, args }) {
  const toolInvocation = { state: 'result', toolCallId, toolName, args, result: 'redacted' };
  found.push(messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation }));
}
const agent = agentWith({
  turns: [[
    { type: 'tool-call', input: '{}', ...call },
    { type: 'tool-result', result: 'raw', ...call },
    ...say('done'),
  ]],
  outputProcessors: [{ id: 'redacts', processToolResult: redacts }],
});
const chunks = await readAll(await agent.stream('hi'));

assert.deepEqual(found, [false]);
assert.equal(chunks.find(({ type }) => type === 'tool-result').payload.result, 'raw');
sees("A provider's result cannot be redacted in its own stream: its call is not in the list yet.");
