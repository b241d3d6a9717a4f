import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const seen = [];
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => ({ pin: '1234' })),
  outputProcessors: [
    {
      id: 'redacts',
      processToolResult({ messageList, toolCallId, toolName, args }) {
        const toolInvocation = { state: 'result', toolCallId, toolName, args, result: { pin: '****' } };
        messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation });
        return messageList;
      },
    },
    { id: 'looks', processToolResult: ({ result }) => void seen.push(result) },
  ],
});
await agent.generate('hi');

assert.deepEqual(seen, [{ pin: '1234' }]);
sees('The processors after a redactor of tool results still get the raw result.');
