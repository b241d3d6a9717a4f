import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const cuts = {
  id: 'cuts',
  processOutputStream({ part, messageList }) {
    if (part.payload?.text === 'two') messageList.clear.response.db();
    return part;
  },
};
const { text } = await (await agentWith({ turns: [say('one', 'two')], outputProcessors: [cuts] }).stream('hi')).getFullOutput();

assert.equal(text, 'onetwo');
sees('A text is in the list when it has ended: what a hook takes out while it streams is in it all the same.');
