import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const returning = value => agentWith({
  turns: [say('hello')],
  outputProcessors: [{ id: 'clumsy', processOutputStream: ({ part }) => (part.type === 'text-delta' ? value : part) }],
});
const chunks = await readAll(await returning({ payload: { text: 'no type' } }).stream('hi'));
const error = await returning('gone').generate('hi').catch(raised => raised);

assert.ok(chunks.some(({ type }) => type === undefined));
assert.ok(error instanceof TypeError && !error.message.includes('clumsy'));
sees('What is no chunk goes to the client, or breaks the run with an error that names no processor.');
