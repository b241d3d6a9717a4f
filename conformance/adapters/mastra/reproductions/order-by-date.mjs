import assert from 'node:assert/strict';
import { agentWith, remembering, say, scripted, sees, textOf, thread } from './support/scripted.mjs';

const message = (id, minute) => ({
  id,
  role: 'user',
  createdAt: new Date(Date.UTC(2026, 0, 1, 10, minute)),
  content: { format: 2, parts: [{ type: 'text', text: id }] },
});
const texts = prompt => prompt.filter(({ role }) => role === 'user').map(({ content }) => content[0].text);

const swapped = await remembering();
const model = scripted(say('hello'));
const swap = { id: 'swaps', processInput: ({ messages }) => [messages[1], messages[0]] };
const swapping = agentWith({ model, memory: swapped.memory, inputProcessors: [swap] });
await swapping.generate([message('a', 1), message('b', 2)], thread);
assert.deepEqual(texts(model.calls[0]), ['a', 'b']);
assert.deepEqual((await swapped.stored()).map(textOf), ['a', 'b', 'hello']);

const future = { ...message('from the future', 0), createdAt: new Date(Date.now() + 3_600_000) };
const asked = scripted(say('hello'));
await agentWith({ model: asked, memory: (await remembering([future])).memory }).generate('now', thread);
assert.deepEqual(texts(asked.calls[0]), ['now', 'from the future']);
sees('Prompts and the store have the messages by date, whatever order a processor or the store gave them.');
