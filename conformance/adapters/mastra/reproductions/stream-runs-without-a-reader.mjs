import assert from 'node:assert/strict';
import { agentWith, remembering, say, sees, settle, textOf, thread } from './support/scripted.mjs';

const closed = await remembering();
const stream = await agentWith({ memory: closed.memory, turns: [say('one', 'two', 'three')] }).stream('hi', thread);
const reader = stream.fullStream.getReader();
await reader.read();
await reader.cancel();
await settle();
assert.deepEqual((await closed.stored()).map(textOf), ['hi', 'onetwothree']);

const abandoned = await remembering();
const left = await agentWith({ memory: abandoned.memory, turns: [say('one', 'two', 'three')] }).stream('hi', thread);
await left.fullStream.getReader().read();
await settle();
assert.deepEqual((await abandoned.stored()).map(textOf), ['hi', 'onetwothree']);
sees('A stream that its reader closed or left runs on to its end, paid and stored.');
