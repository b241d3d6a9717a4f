import assert from 'node:assert/strict';
import { agentWith, readAll, sees } from './support/scripted.mjs';

const started = agentWith({}).stream('hi', { abortSignal: true }).then(readAll);
const patience = new Promise(resolve => setTimeout(resolve, 500, 'still waiting'));
const ended = await Promise.race([started.then(() => 'ended', () => 'raised'), patience]);

assert.equal(ended, 'still waiting');
sees('Where the signal is none, the stream never ends: no chunk comes any more, and nothing is raised.');
