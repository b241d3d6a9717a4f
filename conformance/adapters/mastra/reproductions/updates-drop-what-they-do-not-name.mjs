import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), say('done'));
const masks = {
  id: 'masks',
  processInputStep({ stepNumber, messageList }) {
    if (!stepNumber) return;
    const toolInvocation = { toolCallId: 'c1', result: { masked: true } };
    assert.ok(messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation }));
  },
};
await agentWith({ model, tools: lookup(), inputProcessors: [masks] }).generate('hi');

assert.deepEqual(model.calls[1].map(({ role }) => role), ['system', 'user']);
sees('An update that names a call\'s new result alone takes its name and its state away: the prompt lacks the call.');
