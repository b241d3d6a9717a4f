import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const note = { type: 'data-note', data: 1 };
const input = { id: 'question', role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'hi' }] } };
const sends = messageId => ({ id: 'sends', processInputStep: ({ writer }) => writer.custom(note, { messageId }) });
const holding = ({ response }) =>
  response.dbMessages.filter(({ content }) => content.parts.some(({ type }) => type === 'data-note'));
const named = await agentWith({ turns: [say('hello')], inputProcessors: [sends('side')] }).generate('hi');
const users = await agentWith({ turns: [say('hello')], inputProcessors: [sends('question')] }).generate([input]);

for (const found of [holding(named), holding(users)]) {
  assert.equal(found.length, 1);
  assert.ok(!['side', 'question'].includes(found[0].id));
}
sees('In most hooks messageId is not heeded: the part goes to the answer, even where a user message was named.');
