import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const agent = agentWith({
  turns: [say('my PIN is 1234')],
  outputProcessors: [{
    id: 'filter',
    processOutputStream({ part }) {
      if (part.type === 'text-delta') throw new Error('the filter broke');
      return part;
    },
  }],
});
const chunks = await readAll(await agent.stream('hi'));

assert.equal(chunks.find(({ type }) => type === 'text-delta').payload.text, 'my PIN is 1234');
assert.equal(chunks.at(-1).type, 'finish');
sees('Where a filter crashes in processOutputStream, the unfiltered text goes out and nobody is told.');
