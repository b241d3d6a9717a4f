import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { agentWith, finish, say, sees, settle } from './support/scripted.mjs';

let refuse;
const refused = new Promise(resolve => (refuse = resolve));
const send = (writer, n) => writer.custom({ type: 'data-note', data: { n } });
const tool = (id, execute) => createTool({ id, description: id, inputSchema: z.any(), execute });
const seen = [];
const guard = {
  id: 'guard',
  processDataParts: true,
  processOutputStream({ part, abort }) {
    if (part.type !== 'data-note') return part;
    seen.push(part.data.n);
    return part.data.n === 1 ? (refuse(), abort('no')) : part;
  },
};
const call = name => ({ type: 'tool-call', toolCallId: name, toolName: name, input: '{}' });
const agent = agentWith({
  turns: [[call('first'), call('second'), finish('tool-calls')], say('done')],
  tools: {
    first: tool('first', async (input, { writer }) => void (await send(writer, 1))),
    second: tool('second', async (input, { writer }) => void (await refused, await send(writer, 2))),
  },
  outputProcessors: [guard],
});
await (await agent.stream('hi')).consumeStream();
await settle();

assert.deepEqual(seen, [1, 2]);
sees('Data that another tool sends after an abort is still processed.');
