import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const replaces = {
  id: 'replaces',
  processInput({ messageList }) {
    messageList.addSystem('tagged', 'tag');
    messageList.replaceAllSystemMessages([{ role: 'system', content: 'the only one' }]);
  },
};
await agentWith({ model, inputProcessors: [replaces] }).generate('hi');

assert.match(JSON.stringify(model.calls[0]), /the only one.*tagged/);
sees('System messages with a tag stay where all system messages are replaced.');
