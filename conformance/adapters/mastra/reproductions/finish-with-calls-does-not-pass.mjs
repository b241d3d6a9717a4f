import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, sees } from './support/scripted.mjs';

const passed = [];
const agent = agentWith({
  turns: [callTool('c1')],
  tools: lookup(),
  outputProcessors: [{ id: 'witness', processOutputStream: ({ part }) => passed.push(part.type) && part }],
});
const result = await agent.generate('hi', { maxSteps: 1 });

assert.equal(result.finishReason, 'tool-calls');
assert.ok(passed.includes('step-finish'));
assert.ok(!passed.includes('finish'));
sees("The model's finish does not pass processOutputStream in a run that the step limit ends after tool calls.");
