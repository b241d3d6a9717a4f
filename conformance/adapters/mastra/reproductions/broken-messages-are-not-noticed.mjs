import assert from 'node:assert/strict';
import { agentWith, message, sees } from './support/scripted.mjs';

const breaking = change => {
  const clumsy = { id: 'clumsy', processInput: ({ messages }) => void change(messages[0]) };
  return agentWith({ inputProcessors: [clumsy] }).generate([message('u1', 'hi')]);
};
for (const change of [one => delete one.id, one => { one.id = 'u9'; }, one => { one.content = 'hi'; }]) {
  assert.equal((await breaking(change)).text, 'hello');
}
await assert.rejects(breaking(one => delete one.role), error => !error.message.includes('clumsy'));
sees('A message that a hook broke in place goes on, or breaks the run with an error that names no processor.');
