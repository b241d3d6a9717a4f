import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const said = [];
const texts = parts => parts.filter(({ type }) => type === 'text-delta').map(({ payload }) => payload.text);
const agent = agentWith({
  turns: [say('one', 'two')],
  outputProcessors: [{
    id: 'masks',
    processOutputStream({ part, streamParts }) {
      if (part.type === 'text-delta') part.payload.text = '*';
      if (part.type === 'text-end') streamParts.pop();
      return part;
    },
  }, {
    id: 'detects',
    processOutputStream({ part, streamParts }) {
      if (part.type === 'step-finish') said.push(texts(streamParts), streamParts.some(({ type }) => type === 'text-end'));
      return part;
    },
  }],
});
await readAll(await agent.stream('hi'));

assert.deepEqual(said, [['*', '*'], false]);
sees('What one processor edits in a chunk, or takes out of streamParts, is gone from the streamParts of all.');
