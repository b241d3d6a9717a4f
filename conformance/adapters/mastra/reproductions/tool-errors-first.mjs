import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const failing = lookup(async (_, { agent }) => {
  if (agent.toolCallId === 'c2') throw new Error('no such record');
  return 'found';
});
const agent = agentWith({ turns: [callTool('c1', 'c2'), say('done')], tools: failing });
const chunks = await readAll(await agent.stream('hi'));
const outcomes = chunks.filter(({ type }) => ['tool-result', 'tool-error'].includes(type));

assert.deepEqual(outcomes.map(({ payload }) => payload.toolCallId), ['c2', 'c1']);
sees('Where one of several tools fails, its error comes before the results of the calls that stood before it.');
