import assert from 'node:assert/strict';
import { agentWith, finish, say, sees } from './support/scripted.mjs';
import { createTool } from '@mastra/core/tools';

const executed = [];
const inputSchema = { type: 'object', properties: { either: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } };
const execute = async args => executed.push(args);
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: '{"either":null}' };
const agent = agentWith({
  turns: [[call, finish('tool-calls')], say('done')],
  tools: { lookup: createTool({ id: 'lookup', description: 'looks up', inputSchema, execute }) },
});
await agent.generate('hi');

assert.deepEqual(executed, [{}]);
sees('A null that does not fit is left out of the arguments, and the tool is called without it.');
