import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees, types } from './support/scripted.mjs';

const called = [];
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const cached = [
  { type: 'text-start', payload: { id: 't' } },
  { type: 'text-delta', payload: { id: 't', text: 'from the cache' } },
  { type: 'text-end', payload: { id: 't' } },
  { type: 'finish', payload: { stepResult: { reason: 'stop' }, output: { usage } } },
];
const agent = agentWith({
  turns: [say('live')],
  inputProcessors: [{
    id: 'cache',
    processLLMRequest: () => ({ response: { chunks: cached } }),
    processLLMResponse: () => void called.push('processLLMResponse'),
  }],
  outputProcessors: [{ id: 'filter', processOutputStream: ({ part }) => called.push(part.type) && part }],
});
const stream = await agent.stream('hi');
const chunks = types(await readAll(stream));

assert.equal(await stream.text, 'from the cache');
assert.deepEqual(called, ['step-finish']);
assert.ok(!chunks.includes('step-start'));
sees('A replayed answer reaches the client unfiltered: no processOutputStream, no processLLMResponse, no step-start.');
