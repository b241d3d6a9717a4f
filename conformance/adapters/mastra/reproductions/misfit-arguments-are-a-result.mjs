import assert from 'node:assert/strict';
import { agentWith, callTool, say, scripted, sees } from './support/scripted.mjs';
import { createTool } from '@mastra/core/tools';

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const executed = [];
const results = [];
const execute = async args => executed.push(args);
const model = scripted(callTool('c1'), say('done'));
const agent = agentWith({
  model,
  tools: { lookup: createTool({ id: 'lookup', description: 'looks up', inputSchema, execute }) },
  outputProcessors: [{ id: 'scanner', processToolResult: ({ result }) => void results.push(result) }],
});
await agent.generate('hi');

assert.deepEqual([executed, results.map(({ error }) => error)], [[], [true]]);
assert.equal(model.calls[1].at(-1).content[0].output.type, 'json');
sees('Arguments that do not fit are answered with a result, which processors and the model take for one.');
