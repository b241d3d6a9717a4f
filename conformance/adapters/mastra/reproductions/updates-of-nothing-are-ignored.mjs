import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), say('done'));
const masks = {
  id: 'masks',
  processToolResult({ messageList }) {
    const toolInvocation = { state: 'result', result: 'masked' };
    messageList.updateToolInvocation({ type: 'tool-invocation', toolInvocation });
  },
};
const { text } = await agentWith({ model, tools: lookup(), outputProcessors: [masks] }).generate('hi');

assert.equal(text, 'done');
assert.match(JSON.stringify(model.calls[1]), /"found":true/);
sees('A redactor that forgets the id of a call redacts nothing, and nobody is told.');
