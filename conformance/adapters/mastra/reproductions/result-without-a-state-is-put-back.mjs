import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const redacts = ({ messages }) => {
  for (const { toolInvocation } of messages.at(-1).content.parts) toolInvocation.result = 'redacted';
};
const model = scripted(callTool('c1'), say('done'));
const tools = lookup(async () => 'raw');
const agent = agentWith({ model, tools, outputProcessors: [{ id: 'redacts', processToolResult: redacts }] });
await agent.generate('hi');

assert.equal(model.calls[1].at(-1).content[0].output.value, 'raw');
sees("A result replaced in place comes back raw where the processor has not set the call's state as well.");
