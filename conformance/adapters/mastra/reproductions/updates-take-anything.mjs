import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const endless = {};
endless.self = endless;
const results = [];
const redactor = {
  id: 'redactor',
  processToolResult({ toolCallId, messageList }) {
    for (const result of [endless, () => {}]) {
      const toolInvocation = { toolCallId, toolName: 'lookup', args: {}, state: 'result', result };
      messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation });
      results.push(messageList.get.response.db()[0].content.parts[0].toolInvocation.result);
    }
  },
};
const model = scripted(callTool('c1'), say('done'));
await agentWith({ model, tools: lookup(), outputProcessors: [redactor] }).generate('hi');

assert.deepEqual(results.map(result => typeof result), ['object', 'function']);
sees('updateToolInvocation takes any result: a function, or one that holds itself.');
