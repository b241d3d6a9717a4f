import assert from 'node:assert/strict';
import { agentWith, say, sees, settle } from './support/scripted.mjs';

let sent;
const guard = {
  id: 'guard',
  processDataParts: true,
  processOutputStream: ({ part, abort }) => (part.type === 'data-note' ? abort('no') : part),
};
const sender = {
  id: 'sender',
  async processOutputStep({ writer }) {
    sent = await writer.custom({ type: 'data-note', data: {} }).then(() => 'sent', () => 'raised');
  },
};
const stream = await agentWith({ turns: [say('hello')], outputProcessors: [sender, guard] }).stream('hi');
await stream.consumeStream();
await settle();

assert.equal(sent, 'sent');
sees('An abort on a data chunk is not raised where the chunk was sent: hooks and tools go on with what was refused.');
