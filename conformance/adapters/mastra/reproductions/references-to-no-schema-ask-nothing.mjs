import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { agentWith, callTool, say, scripted, sees } from './support/scripted.mjs';

let executed = 0;
const id = { title: 'small', $ref: '#/properties/id/title' };
const lookup = createTool({
  id: 'lookup', description: 'looks up', inputSchema: { type: 'object', properties: { id } }, execute: async () => executed++,
});
await agentWith({ model: scripted(callTool('c1'), say('done')), tools: { lookup } }).generate('hi');

assert.equal(executed, 1);
sees('A reference in a schema that leads to no schema asks nothing, and the call is executed.');
