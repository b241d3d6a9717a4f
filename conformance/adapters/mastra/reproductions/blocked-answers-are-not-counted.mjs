import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const guard = { id: 'guard', processLLMResponse: ({ abort }) => abort('no') };
const { tripwire, totalUsage } = await agentWith({ inputProcessors: [guard] }).generate('hi');

assert.equal(tripwire.reason, 'no');
assert.notEqual(totalUsage.totalTokens, 2);
sees('The usage of a call whose answer processLLMResponse blocks is not in the usage of the run.');
