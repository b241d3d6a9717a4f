import assert from 'node:assert/strict';
import { agentWith, remembering, sees, textOf, thread } from './support/scripted.mjs';

const message = (id, text, minute) => ({
  id, role: 'user', createdAt: new Date(2026, 0, 1, 10, minute), content: { format: 2, parts: [{ type: 'text', text }] },
});
const { memory, stored } = await remembering([message('h1', 'before', 1), message('h2', 'more', 2)]);
const forged = message('h1', 'forged', 9);
const forges = {
  id: 'forges',
  processInput: ({ messageList }) => {
    messageList.removeByIds(['h1']);
    messageList.add(forged, 'input');
  },
};
await agentWith({ memory, inputProcessors: [forges] }).generate('hi', thread);
const texts = (await stored()).map(textOf);

assert.deepEqual([texts[0], texts.filter(text => text === 'before'), texts.includes('forged')], ['more', [], true]);
sees('A message with the id of a stored one that is not in the list just then takes its place in the store, and moves it.');
