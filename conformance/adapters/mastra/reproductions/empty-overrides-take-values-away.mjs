import assert from 'node:assert/strict';
import { agentWith, lookup, sees } from './support/scripted.mjs';

const seen = [];
const limit = { id: 'limit', processInputStep: () => ({ activeTools: ['lookup'] }) };
const lift = { id: 'lift', processInputStep: () => ({ activeTools: undefined }) };
const look = { id: 'look', processInputStep: ({ activeTools }) => void seen.push(activeTools) };
await agentWith({ tools: lookup(), inputProcessors: [limit, lift, look] }).generate('hi');

assert.deepEqual(seen, [undefined]);
sees('An override that is null or undefined takes away the limit that a processor before had set.');
