import assert from 'node:assert/strict';
import { agentWith, readAll, remembering, say, sees, settle, textOf, thread, types } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const controller = new AbortController();
const called = [];
const agent = agentWith({
  memory,
  turns: [say('half', 'whole')],
  outputProcessors: [{
    id: 'reads',
    processOutputStream({ part }) {
      if (part.payload?.text === 'half') controller.abort('enough');
      return part;
    },
    processOutputResult: () => void called.push('processOutputResult'),
  }],
});
const chunks = types(await readAll(await agent.stream('hi', { ...thread, abortSignal: controller.signal })));
await settle();

assert.deepEqual(chunks.slice(-2), ['abort', 'finish']);
assert.deepEqual(called, ['processOutputResult']);
assert.equal((await stored()).map(textOf)[0], 'hi');
sees('A request that its caller cancelled still runs processOutputResult, is stored, and ends in `finish` after `abort`.');
