import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const log = [];
let pass;
const held = new Promise(resolve => { pass = resolve; });
const execute = async (_, { agent, writer }) => {
  await writer.custom({ type: 'data-note', data: agent.toolCallId });
  return {};
};
const agent = agentWith({
  turns: [callTool('c1', 'c2'), say('done')],
  tools: lookup(execute),
  outputProcessors: [{
    id: 'slow',
    processDataParts: true,
    async processOutputStream({ part }) {
      if (part.type !== 'data-note') return part;
      log.push(`in ${part.data}`);
      if (log.length === 1) await held;
      else pass();
      log.push(`out ${part.data}`);
      return part;
    },
  }],
});
await readAll(await agent.stream('hi'));

assert.deepEqual(log.slice(0, 2).map(entry => entry.split(' ')[0]), ['in', 'in']);
sees('Data that two tools send at once is in the same processor at once.');
