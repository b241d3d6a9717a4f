// The framework as a client over HTTP, with the provider package that its users take: an agent asks an endpoint.
// In: the endpoint's base URL, and what to ask, one word an argument. Out: a line of JSON for each, what came of it.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';

const print = console.log.bind(console);
// The framework reports on the console what it raises besides.
for (const level of ['debug', 'info', 'log', 'warn', 'error']) console[level] = () => {};

const [baseURL, ...questions] = process.argv.slice(2);
const endpoint = createOpenAICompatible({ name: 'mock', baseURL, apiKey: 'a-key', includeUsage: true });
const called = [];
const weather = createTool({
  id: 'weather', description: 'The weather in a city', inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => { called.push(city); return { celsius: -4 }; },
});
const agent = new Agent({
  id: 'agent', name: 'agent', instructions: 'Be kind.', model: endpoint('mock'), tools: { weather }, maxRetries: 0,
});

// An error as its own documentation describes it.
function told(error) {
  const { name, message, statusCode, isRetryable, cause } = error;
  return { name, message, statusCode, isRetryable, cause: cause?.message };
}

async function generated(question) {
  const { text, finishReason, usage } = await agent.generate(question);
  return { text, finishReason, usage };
}

async function streamed(question) {
  const stream = await agent.stream(question);
  const deltas = [];
  const errors = [];
  for await (const { type, payload } of stream.fullStream) {
    if (type === 'text-delta') deltas.push(payload.text);
    if (type === 'error') errors.push(told(payload.error));
  }
  return { deltas, errors, finishReason: await stream.finishReason, usage: await stream.totalUsage };
}

process.on('unhandledRejection', () => {}); // what the framework leaves behind a call that failed
for (const question of questions) {
  called.length = 0;
  const ask = question.endsWith('-stream') ? streamed : generated;
  const outcome = await ask(question).catch(error => ({ raised: told(error) }));
  print(JSON.stringify({ question, ...outcome, called }));
}
process.exit(0);
