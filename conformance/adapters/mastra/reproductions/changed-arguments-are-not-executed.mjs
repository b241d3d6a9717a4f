import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const executed = [];
const drops = { id: 'drops', processOutputStream: ({ part }) => (part.type === 'tool-call' ? null : part) };
const capped = {
  id: 'caps',
  processOutputStream: ({ part }) => (
    part.type === 'tool-call' ? { ...part, payload: { ...part.payload, args: { id: 2 } } } : part
  ),
};
const turns = [callTool('c1'), say('done')];
for (const outputProcessors of [[capped], [drops]]) {
  await agentWith({ turns, tools: lookup(async args => executed.push(args)), outputProcessors }).generate('hi');
}

assert.deepEqual(executed, [{ id: 1 }, { id: 1 }]);
sees('In generate() a tool is called as the model asked, though a processor has changed that in the chunk, or dropped it.');
