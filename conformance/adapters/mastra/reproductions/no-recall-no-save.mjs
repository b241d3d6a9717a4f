import assert from 'node:assert/strict';
import { InMemoryStore } from '@mastra/core/storage';
import { Memory } from '@mastra/memory';
import { agentWith, sees, thread } from './support/scripted.mjs';

for (const lastMessages of [0, false]) {
  const storage = new InMemoryStore();
  const store = await storage.getStore('memory');
  await agentWith({ memory: new Memory({ storage, options: { lastMessages } }) }).generate('hi', thread);
  const { messages } = await store.listMessages({ threadId: 'thread', page: 0, perPage: false });

  assert.deepEqual(messages, []);
}
sees('With `lastMessages` 0 or false, meant to keep the prompt short, nothing of the conversation is stored.');
