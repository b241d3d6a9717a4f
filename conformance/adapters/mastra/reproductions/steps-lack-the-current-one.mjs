import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const counts = [];
const count = hook => ({ steps }) => void counts.push([hook, steps.length]);
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(),
  inputProcessors: [{ id: 'witness', processLLMResponse: count('processLLMResponse') }],
  outputProcessors: [{ id: 'guard', processOutputStep: count('processOutputStep') }],
});
await agent.generate('hi');

assert.deepEqual(counts, [
  ['processLLMResponse', 0], ['processOutputStep', 0],
  ['processLLMResponse', 1], ['processOutputStep', 1],
]);
sees('The steps that processLLMResponse and processOutputStep get lack the step they are called for.');
