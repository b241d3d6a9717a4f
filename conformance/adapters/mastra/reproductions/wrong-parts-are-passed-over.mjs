import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const asked = [];
const whole = say('half', 'an answer');
const broken = whole.map(part => (part.delta === 'an answer' ? { type: 'text-delta', id: 't' } : part));
const agent = agentWith({
  turns: [broken, say('whole')],
  errorProcessors: [{ id: 'mends', processAPIError: ({ error }) => (asked.push(error), { retry: true }) }],
  maxProcessorRetries: 1,
});
const stream = await agent.stream('hi');
await readAll(stream);

assert.deepEqual([asked, await stream.text, await stream.finishReason], [[], 'half', 'stop']);
sees("A broken part of the provider's answer, one without its text for instance, is no failure: half an answer looks whole.");
