import assert from 'node:assert/strict';
import { agentWith, callTool, finish, lookup, readAll, say, sees } from './support/scripted.mjs';

const pieces = [
  { type: 'tool-input-start', id: 'c1', toolName: 'lookup' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"id":1}' },
  { type: 'tool-input-end', id: 'c1' },
];
let executed = 0;
const agent = agentWith({
  turns: [[...pieces, callTool('c1')[0], finish('tool-calls')], say('done')],
  tools: lookup(async () => ({ found: ++executed })),
  outputProcessors: [{ id: 'blocks', processOutputStream: ({ part }) => (part.type === 'tool-call' ? null : part) }],
});
await readAll(await agent.stream('hi'));

assert.equal(executed, 1);
sees('A tool call that was dropped is made all the same where its input was streamed in pieces before.');
