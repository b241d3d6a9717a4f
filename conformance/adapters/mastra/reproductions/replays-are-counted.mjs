import assert from 'node:assert/strict';
import { agentWith, sees, scripted, say } from './support/scripted.mjs';

const usage = { inputTokens: 200, outputTokens: 2, totalTokens: 202 };
const chunks = [
  { type: 'text-start', payload: { id: 't' } },
  { type: 'text-delta', payload: { id: 't', text: 'known' } },
  { type: 'text-end', payload: { id: 't' } },
  { type: 'finish', payload: { stepResult: { reason: 'stop' }, output: { usage } } },
];
const cache = { id: 'cache', processLLMRequest: () => ({ response: { chunks } }) };
const model = scripted(say('hello'));
const { text, totalUsage } = await agentWith({ model, inputProcessors: [cache] }).generate('hi');

assert.deepEqual([text, totalUsage.totalTokens, model.calls.length], ['known', 202, 0]);
sees('The usage of a run counts an answer that came out of a cache, though no model was called for it.');
