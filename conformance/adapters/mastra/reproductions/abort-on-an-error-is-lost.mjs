import assert from 'node:assert/strict';
import { agentWith, readAll, sees, types } from './support/scripted.mjs';

const guard = {
  id: 'guard',
  processOutputStream: ({ part, abort }) => (part.type === 'error' ? abort('no') : part),
  processOutputResult: ({ abort }) => abort('no'),
};
const agent = () => agentWith({ turns: [new Error('overloaded')], outputProcessors: [guard] });
await assert.rejects(agent().generate('hi'), /overloaded/);
const read = types(await readAll(await agent().stream('hi')));

assert.ok(read.includes('error') && !read.includes('tripwire'));
sees("An abort on a failed call's error chunk, or in its processOutputResult, is lost: the provider's error goes out.");
