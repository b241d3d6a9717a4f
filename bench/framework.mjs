// The workloads of bench/run.py on the real framework, used directly: no adapter, no wire, a scripted model.
// In: one JSON line a workload; out: one JSON line {seconds}, the mean of one request.
import { createRequire } from 'node:module';
import readline from 'node:readline';

console.log = console.info = console.warn = console.debug = console.error; // stdout is for answers
const require = createRequire(new URL('../conformance/adapters/mastra/package.json', import.meta.url));
const { Agent } = require('@mastra/core/agent');
const { createTool } = require('@mastra/core/tools');
const { z } = require('zod');

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const textParts = deltas => [
  { type: 'text-start', id: 't' },
  ...Array.from({ length: deltas }, () => ({ type: 'text-delta', id: 't', delta: 'word ' })),
  { type: 'text-end', id: 't' },
  { type: 'finish', finishReason: 'stop', usage },
];
const toolParts = call => [
  { type: 'tool-call', toolCallId: `c${call}`, toolName: 'add', input: '{"a":1,"b":2}' },
  { type: 'finish', finishReason: 'tool-calls', usage },
];

// The turns of one request; every request starts at the first again.
function scriptedModel(turns) {
  let turn = 0;
  const next = () => turns[turn++ % turns.length];
  const streamOf = parts => new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  return {
    specificationVersion: 'v2', provider: 'scripted', modelId: 'scripted', supportedUrls: {},
    doStream: async () => ({ stream: streamOf([{ type: 'stream-start', warnings: [] }, ...next()]) }),
    doGenerate: async () => {
      const parts = next();
      const text = parts.filter(part => part.type === 'text-delta').map(part => part.delta).join('');
      const content = [...(text ? [{ type: 'text', text }] : []), ...parts.filter(part => part.type === 'tool-call')];
      return { content, finishReason: parts.at(-1).finishReason, usage, warnings: [] };
    },
  };
}

const add = createTool({
  id: 'add', description: 'adds', inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});

function agentFor({ chunks, processors, steps }) {
  const turns = [...Array.from({ length: steps }, (_, call) => toolParts(call)), textParts(chunks)];
  const outputProcessors = Array.from({ length: processors }, (_, number) => ({
    id: `p${number}`, processOutputStream: async ({ part }) => part,
  }));
  return new Agent({
    id: 'bench', name: 'bench', instructions: 'Be brief.', model: scriptedModel(turns), tools: { add }, outputProcessors,
  });
}

const requests = {
  generate: async (agent, options) => (await agent.generate('hi', options)).text.length,
  stream: async (agent, options) => {
    let length = 0;
    for await (const chunk of (await agent.stream('hi', options)).fullStream)
      if (chunk.type === 'text-delta') length += chunk.payload.text.length;
    return length;
  },
};

async function measure(workload) {
  const agent = agentFor(workload);
  const options = { maxSteps: workload.steps + 1 };
  const expected = 'word '.length * workload.chunks;
  const started = process.hrtime.bigint();
  let seconds = 0;
  let count = 0;
  do {
    const length = await requests[workload.mode](agent, options);
    if (length !== expected) throw new Error(`${length} characters came, not ${expected}`);
    count += 1;
    seconds = Number(process.hrtime.bigint() - started) / 1e9;
  } while (seconds < workload.atLeast);
  return { seconds: seconds / count };
}

for await (const line of readline.createInterface({ input: process.stdin }))
  process.stdout.write(JSON.stringify(await measure(JSON.parse(line))) + '\n');
process.exit(0);
