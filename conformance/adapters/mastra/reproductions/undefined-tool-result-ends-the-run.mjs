import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), say('done'));
const called = [];
const agent = agentWith({
  model,
  tools: lookup(async () => undefined),
  outputProcessors: [{ id: 'scanner', processToolResult: () => void called.push('processToolResult') }],
});
const { finishReason } = await agent.generate('hi');

assert.deepEqual([finishReason, model.calls.length, called], ['tool-calls', 1, []]);
sees('A tool that returns nothing ends the run, without processToolResult and without an answer.');
