import assert from 'node:assert/strict';
import { agentWith, readAll, sees, types } from './support/scripted.mjs';

const onError = answer => ({ id: 'words', processOutputStream: ({ part }) => (part.type === 'error' ? answer : part) });
const sorry = { type: 'error', payload: { error: new Error('sorry') } };
const refused = new Error('refused');
await assert.rejects(agentWith({ turns: [refused], outputProcessors: [onError(sorry)] }).generate('hi'), /sorry/);

const dropping = agentWith({ turns: [refused], outputProcessors: [onError(null)] });
assert.ok(types(await readAll(await dropping.stream('hi'))).includes('error'));
sees('An error chunk that a processor words anew becomes the error that generate() raises; one it drops goes out.');
