import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const guard = {
  id: 'guard',
  processDataParts: true,
  processOutputStream: ({ part, abort }) => (part.type === 'data-note' ? abort('no') : part),
};
const sender = {
  id: 'sender',
  processOutputResult: ({ writer }) => writer.custom({ type: 'data-note', data: {} }).then(() => undefined),
};
const stream = await agentWith({ turns: [say('hello')], outputProcessors: [sender, guard] }).stream('hi');
await stream.consumeStream();

assert.deepEqual([await stream.finishReason, stream.tripwire], ['stop', undefined]);
sees('An abort on data that processOutputResult sends is lost.');
