import assert from 'node:assert/strict';
import { agentWith, readAll, sees, types } from './support/scripted.mjs';

const guard = { id: 'mend', processAPIError: ({ abort }) => abort('beyond repair') };
const stream = await agentWith({ turns: [new Error('overloaded')], errorProcessors: [guard] }).stream('hi');
const read = types(await readAll(stream));

assert.ok(!read.includes('tripwire') && !read.includes('finish') && !read.includes('error'));
await assert.rejects(stream.text, /was not resolved or rejected/);
sees('After an abort in processAPIError the stream just stops, and its promises fail with an internal message.');
