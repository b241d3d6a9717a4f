import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const executed = [];
const capped = {
  id: 'caps',
  processOutputStream: ({ part }) => (
    part.type === 'tool-call' ? { ...part, payload: { ...part.payload, args: { id: 2 } } } : part
  ),
};
const turns = [callTool('c1'), say('done')];
await agentWith({ turns, tools: lookup(async args => executed.push(args)), outputProcessors: [capped] }).generate('hi');

assert.deepEqual(executed, [{ id: 1 }]);
sees('In generate() a tool runs with the arguments of the model, though a processor has changed them in the chunk.');
