import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const numbers = [];
const model = scripted(say('bad'));
const agent = agentWith({
  model,
  maxProcessorRetries: 9,
  inputProcessors: [{ id: 'witness', processInputStep: ({ stepNumber }) => void numbers.push(stepNumber) }],
  outputProcessors: [{ id: 'guard', processOutputStep: ({ abort }) => abort('again', { retry: true }) }],
});
const { text, tripwire } = await agent.generate('hi');

assert.deepEqual(numbers, [0, 1, 2, 3, 4]);
assert.deepEqual([text, tripwire], ['', undefined]);
sees('A rejected attempt gets a step number of its own and uses up the step limit: the run ends silently empty.');
