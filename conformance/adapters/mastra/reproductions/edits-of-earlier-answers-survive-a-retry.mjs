import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

let rejected = false;
const model = scripted([...say('one').slice(0, -1), ...callTool('c1')], say('bad'), say('good'));
const agent = agentWith({
  model,
  tools: lookup(),
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStep({ text, messageList, abort }) {
      if (text !== 'bad' || rejected) return;
      rejected = true;
      messageList.clear.response.db();
      abort('again', { retry: true });
    },
  }],
});
await agent.generate('hi');

assert.match(JSON.stringify(model.calls[1]), /"one"/);
assert.doesNotMatch(JSON.stringify(model.calls[2]), /"one"/);
sees('What a hook did to earlier answers before it rejected an attempt stays: tool calls and texts are gone for good.');
