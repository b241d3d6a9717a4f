import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const failing = lookup(async (_, { agent }) => {
  if (agent.toolCallId === 'c2') throw new Error('no such record');
  return 'found';
});
const agent = agentWith({ turns: [callTool('c1', 'c2'), say('done')], tools: failing });
const outcomes = (await readAll(await agent.stream('hi'))).filter(({ type }) => ['tool-result', 'tool-error'].includes(type));

assert.deepEqual(outcomes.map(({ type, payload }) => [type, payload.toolCallId]), [['tool-error', 'c2'], ['tool-result', 'c1']]);
sees('Where one of several tools fails, its error comes before the results of the calls that stood before it.');
