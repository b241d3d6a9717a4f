// What the reproductions share: a scripted model, an agent around it, memory in memory, and a place for what was seen.
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { Memory } from '@mastra/memory';
import { z } from 'zod';

const print = console.log.bind(console);
// The framework reports what it swallows or raises on the console; a reproduction prints one line and nothing else.
for (const level of ['debug', 'info', 'log', 'warn', 'error']) console[level] = () => {};

// Says what a user of the framework sees.
export const sees = line => print(line);

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
export const finish = finishReason => ({ type: 'finish', finishReason, usage });

// Turns of the model: a text, one part of which is sent at a time; calls of the tool `lookup`, by their ids.
export const say = (...deltas) => [
  { type: 'text-start', id: 't' },
  ...deltas.map(delta => ({ type: 'text-delta', id: 't', delta })),
  { type: 'text-end', id: 't' },
  finish('stop'),
];
export const callTool = (...ids) => [
  ...ids.map(toolCallId => ({ type: 'tool-call', toolCallId, toolName: 'lookup', input: '{"id":1}' })),
  finish('tool-calls'),
];

// A model that answers its calls with the turns in order, the last one again and again. A turn is a list of stream
// parts or an error to throw. `calls` keeps the prompts.
export function scripted(...turns) {
  const calls = [];
  async function next({ prompt }) {
    const turn = turns[Math.min(calls.push(prompt), turns.length) - 1];
    if (turn instanceof Error) throw turn;
    return turn;
  }
  async function doStream(options) {
    const parts = [...(await next(options))];
    const pull = controller => (parts.length ? controller.enqueue(parts.shift()) : controller.close());
    return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }) };
  }
  async function doGenerate(options) {
    const parts = await next(options);
    const text = parts.filter(part => part.type === 'text-delta').map(part => part.delta).join('');
    const content = parts.filter(part => part.type === 'tool-call');
    return { content: text ? [{ type: 'text', text }, ...content] : content, warnings: [], ...parts.at(-1) };
  }
  const named = { specificationVersion: 'v2', provider: 'mock', modelId: 'one', supportedUrls: {} };
  return { ...named, calls, doStream, doGenerate };
}

// The tool `lookup`.
export const lookup = (execute = async () => ({ found: true })) => ({
  lookup: createTool({ id: 'lookup', description: 'looks up', inputSchema: z.any(), execute }),
});

export function agentWith({ turns = [say('hello')], model = scripted(...turns), ...options }) {
  return new Agent({ id: 'agent', name: 'agent', instructions: 'Be kind.', model, ...options });
}

// Memory whose store is read with `stored()`; `thread` are the options of a call that uses it.
export const thread = { memory: { thread: 'thread', resource: 'resource' } };
export async function remembering(messages = []) {
  const storage = new InMemoryStore();
  const store = await storage.getStore('memory');
  const owner = { threadId: 'thread', resourceId: 'resource' };
  if (messages.length) {
    const now = new Date();
    const thread = { id: 'thread', resourceId: 'resource', title: '', createdAt: now, updatedAt: now };
    await store.saveThread({ thread });
    await store.saveMessages({ messages: messages.map(message => ({ ...owner, ...message })) });
  }
  const query = { ...owner, page: 0, perPage: false, orderBy: { field: 'createdAt', direction: 'ASC' } };
  const stored = async () => (await store.listMessages(query)).messages;
  return { memory: new Memory({ storage }), stored };
}

// Everything a client reads from the stream.
export async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream.fullStream) chunks.push(chunk);
  return chunks;
}
export const types = list => list.map(({ type }) => type);

// Long enough for whatever goes on behind an ended call.
export const settle = () => new Promise(resolve => setTimeout(resolve, 150));

// A message as an application hands it in, and what one says.
export const message = (id, text, role = 'user') =>
  ({ id, role, content: { format: 2, parts: [{ type: 'text', text }] } });
export const textOf = message => message.content.parts.map(part => part.text ?? part.type).join('|');
