import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

let found;
const agent = agentWith({
  turns: [say('hello')],
  inputProcessors: [{ id: 'sends', processInputStep: ({ writer }) => writer.custom({ type: 'data-note', data: 1 }) }],
  outputProcessors: [{
    id: 'plain',
    processOutputStream({ part, streamParts }) {
      found = streamParts.some(({ type }) => type === 'data-note');
      return part;
    },
  }, { id: 'wants', processDataParts: true, processOutputStream: ({ part }) => part }],
});
await readAll(await agent.stream('hi'));

assert.equal(found, true);
sees('A processor that did not ask for data finds it in streamParts as soon as another one asked.');
