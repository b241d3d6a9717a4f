import assert from 'node:assert/strict';
import { agentWith, readAll, sees, types } from './support/scripted.mjs';

const guard = { id: 'mend', processAPIError: ({ abort }) => abort('beyond repair') };
const agent = agentWith({ turns: [new Error('refused')], errorProcessors: [guard] });

await assert.rejects(agent.generate('hi'), /was not resolved or rejected/);
assert.ok(!types(await readAll(await agent.stream('hi'))).includes('tripwire'));
sees('After an abort in processAPIError generate() raises an internal error, and the stream has no tripwire.');
