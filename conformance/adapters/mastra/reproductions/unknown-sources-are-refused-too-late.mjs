import assert from 'node:assert/strict';
import { agentWith, message, sees } from './support/scripted.mjs';

let ids;
const adds = {
  id: 'adds',
  processInput({ messageList }) {
    assert.throws(() => messageList.add([message('x1', 'note')], 'nowhere'), /Missing message source/);
    ids = messageList.get.all.db().map(({ id }) => id);
  },
};
await agentWith({ inputProcessors: [adds] }).generate([message('u1', 'hi')]);

assert.deepEqual(ids, ['u1', 'x1']);
sees('A message whose source is misspelt is refused, and in the list all the same.');
