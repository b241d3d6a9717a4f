import assert from 'node:assert/strict';
import { agentWith, message, sees } from './support/scripted.mjs';

const asks = {
  id: 'asks',
  processInput({ messageList }) {
    messageList.removeByIds('u1');
    messageList.replaceAllSystemMessages([message('u2', 'you')]);
    assert.throws(() => messageList.add([message('u3', 'you'), 7], 'input'));
    assert.deepEqual(messageList.get.all.db().map(({ id }) => id), ['u1', 'u3']);
    assert.equal(messageList.getAllSystemMessages().length, 0);
    return messageList;
  },
};
await agentWith({ inputProcessors: [asks] }).generate([message('u1', 'hi')]);
sees('removeByIds takes a text for ids, a user\'s message wipes the instructions, and a refused add adds in part.');
