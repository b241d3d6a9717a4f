// No scenario yet.
import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const have = [];
const look = id => ({ id, processInputStep: ({ abortSignal }) => void have.push(Boolean(abortSignal)) });
const agent = agentWith({ inputProcessors: [look('first'), look('second')] });
await agent.generate('hi', { abortSignal: new AbortController().signal });

assert.deepEqual(have, [true, false]);
sees("Only the first processor of the chain gets the caller's abort signal.");
