import assert from 'node:assert/strict';
import { agentWith, message, say, scripted, sees } from './support/scripted.mjs';

const template = message('x1', 'it rains');
const model = scripted(say('hello'));
const agent = agentWith({
  model,
  inputProcessors: [
    { id: 'adds', processInput: ({ messageList }) => void messageList.add([template], 'context') },
    {
      id: 'masks',
      processInput({ messageList }) {
        messageList.get.all.db().at(-1).content.parts[0].text = 'masked';
      },
    },
  ],
});
await agent.generate('hi');

assert.equal(template.content.parts[0].text, 'masked');
sees('A message that a processor adds stays its own object: whoever edits it later edits what the processor kept.');
