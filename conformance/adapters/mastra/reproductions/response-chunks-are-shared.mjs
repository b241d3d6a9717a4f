import assert from 'node:assert/strict';
import { agentWith, sees, types } from './support/scripted.mjs';

const got = [];
const adds = { id: 'adds', processLLMResponse: ({ chunks }) => void chunks.push({ type: 'made-up', payload: {} }) };
const log = { id: 'log', processLLMResponse: ({ chunks }) => void got.push(...types(chunks)) };
await agentWith({ inputProcessors: [adds, log] }).generate('hi');

assert.equal(got.at(-1), 'made-up');
sees('What one processor does to the chunks in processLLMResponse the next one gets for the answer.');
