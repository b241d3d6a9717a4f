import assert from 'node:assert/strict';
import { agentWith, finish, say, sees } from './support/scripted.mjs';
import { createTool } from '@mastra/core/tools';

async function executed(list, input) {
  const ran = [];
  const inputSchema = { type: 'object', properties: { list } };
  const execute = async args => ran.push(args);
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'lookup', input: JSON.stringify({ list: input }) };
  const agent = agentWith({
    turns: [[call, finish('tool-calls')], say('done')],
    tools: { lookup: createTool({ id: 'lookup', description: 'looks up', inputSchema, execute }) },
  });
  await agent.generate('hi');
  return ran.length;
}

assert.equal(await executed({ type: 'array', unevaluatedItems: false }, ['a']), 1);
assert.equal(await executed({ type: 'string', format: 'email' }, 'nobody'), 1);
assert.equal(await executed({ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1]), 0);
sees('A schema is read as draft 7 without formats: newer limits are not checked, and what they allow is refused.');
