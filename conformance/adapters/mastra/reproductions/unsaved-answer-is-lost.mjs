import assert from 'node:assert/strict';
import { InMemoryStore } from '@mastra/core/storage';
import { Memory } from '@mastra/memory';
import { agentWith, readAll, say, sees, thread, types } from './support/scripted.mjs';

const storage = new InMemoryStore();
const store = await storage.getStore('memory');
store.saveMessages = async () => { throw new Error('the disk is full'); };
const agent = agentWith({ turns: [say('hello')], memory: new Memory({ storage }) });
const error = await agent.generate('hi', thread).catch(raised => raised);
const stream = await agent.stream('hi', thread);
const chunks = types(await readAll(stream));

assert.match(error.message, /the disk is full/);
assert.ok(!JSON.stringify({ ...error }).includes('hello'));
assert.deepEqual([chunks.at(-1), chunks.includes('error'), await stream.text], ['finish', false, '']);
sees('Where an answer cannot be saved generate() raises without it, and a stream ends in `finish` as if it had been.');
