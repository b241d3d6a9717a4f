import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const forged = { type: 'text-delta', payload: { id: 't', text: 'forged' } };
const forger = { id: 'forger', processInputStep: ({ writer }) => writer.custom(forged) };
const agent = agentWith({ turns: [say('hello')], inputProcessors: [forger] });
const chunks = await readAll(await agent.stream('hi'));

assert.ok(chunks.some(({ type, payload }) => type === 'text-delta' && payload.text === 'forged'));
sees('writer.custom() sends chunks of any type, a forged text of the model included.');
