import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const mend = { id: 'mend', processAPIError: ({ retryCount }) => ({ retry: retryCount === 0 }) };
const mended = await agentWith({ turns: [new Error('refused'), say('done')], errorProcessors: [mend] }).generate('hi');
assert.deepEqual(mended.steps.map(({ finishReason }) => finishReason), ['retry', 'stop']);

const seen = [];
const log = { id: 'log', processOutputResult: ({ result }) => void seen.push(...result.steps) };
await assert.rejects(agentWith({ turns: [new Error('refused')], outputProcessors: [log] }).generate('hi'));
assert.deepEqual(seen.map(({ finishReason }) => finishReason), ['error']);
sees('A model call that failed is a step of the result, mended or not.');
