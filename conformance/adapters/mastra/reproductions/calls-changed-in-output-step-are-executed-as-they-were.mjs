import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const executed = [];
function mends({ messages }) {
  for (const { toolInvocation } of messages.at(-1).content.parts) if (toolInvocation) toolInvocation.args = { id: 2 };
}
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async args => executed.push(args)),
  outputProcessors: [{ id: 'mends', processOutputStep: mends }],
});
await agent.generate('hi');

assert.deepEqual(executed, [{ id: 1 }]);
sees("Arguments that a processor has changed in processOutputStep are not used: the model's are.");
