import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { agentWith, callTool, say, scripted, sees } from './support/scripted.mjs';

const got = [];
const inputSchema = { type: 'object', properties: { id: { type: 'number' } } };
const lookup = createTool({ id: 'lookup', description: 'looks up', inputSchema, execute: async args => got.push(args.id) });
const spoils = {
  id: 'spoils',
  processOutputStream({ part }) {
    if (part.type === 'tool-call') part.payload.args.id = NaN;
    return part;
  },
};
const agent = agentWith({ model: scripted(callTool('c1'), say('done')), tools: { lookup }, outputProcessors: [spoils] });
await (await agent.stream('hi')).getFullOutput();

assert.deepEqual(got, [NaN]);
sees('NaN and Infinity fit where a tool asks for a number.');
