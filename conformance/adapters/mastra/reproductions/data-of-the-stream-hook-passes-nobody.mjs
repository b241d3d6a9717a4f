import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees, types } from './support/scripted.mjs';

const seen = [];
const sends = ({ part, writer }) =>
  (part.type === 'text-delta' ? writer.custom({ type: 'data-note', data: 1 }) : Promise.resolve()).then(() => part);
const agent = agentWith({
  turns: [say('hello')],
  outputProcessors: [{ id: 'sends', processOutputStream: sends }, {
    id: 'wants',
    processDataParts: true,
    processOutputStream({ part }) {
      seen.push(part);
      return part;
    },
  }],
});
const chunks = await readAll(await agent.stream('hi'));

assert.ok(types(chunks).includes('data-note'));
assert.ok(!types(seen).includes('data-note'));
sees('Data that processOutputStream sends goes to the client past every processor that asked for data.');
