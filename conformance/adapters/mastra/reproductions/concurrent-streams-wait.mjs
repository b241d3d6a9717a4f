import assert from 'node:assert/strict';
import { agentWith, readAll, remembering, say, sees, settle, thread } from './support/scripted.mjs';

const { memory } = await remembering();
let begun = 0;
let release;
const released = new Promise(resolve => { release = resolve; });
const agent = agentWith({
  memory,
  turns: [say('answer')],
  inputProcessors: [{ id: 'witness', processInput: ({ messages }) => { begun += 1; return messages; } }],
  outputProcessors: [{ id: 'slow', processOutputStream: ({ part }) => released.then(() => part) }],
});
const both = ['first', 'second'].map(async input => readAll(await agent.stream(input, thread)));
await settle();
assert.equal(begun, 1);

release();
await Promise.all(both);
assert.equal(begun, 2);
sees('A second stream() on a thread does not begin before the first has ended, however long that takes.');
