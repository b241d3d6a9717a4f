import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

function withholds({ messageList, toolCallId, toolName, args }) {
  const toolInvocation = { state: 'output-error', toolCallId, toolName, args, errorText: 'not for you' };
  messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation });
}
const model = scripted(callTool('c1'), say('done'));
const tools = lookup(async () => 'raw');
const agent = agentWith({ model, tools, outputProcessors: [{ id: 'withholds', processToolResult: withholds }] });
await agent.generate('hi');

assert.equal(model.calls[1].at(-1).content[0].output.value, 'raw');
sees('A result that a processor turned into an error is put back.');
