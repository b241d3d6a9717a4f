import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), say('done'));
const agent = agentWith({
  model,
  tools: lookup(),
  inputProcessors: [{
    id: 'hints',
    processInputStep({ stepNumber, messageList }) {
      if (stepNumber) return;
      messageList.addSystem('for this step', 'hint');
      messageList.addSystem('for this step too');
    },
  }],
});
await agent.generate('hi');

assert.match(JSON.stringify(model.calls[1]), /"for this step"/);
assert.doesNotMatch(JSON.stringify(model.calls[1]), /"for this step too"/);
sees('A system message that processInputStep adds with a tag stays for all later steps.');
