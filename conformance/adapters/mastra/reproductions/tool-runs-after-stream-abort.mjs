import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees, settle, types } from './support/scripted.mjs';

const executed = [];
const [call, end] = callTool('c1');
const bad = say('bad').slice(0, -1);
const agent = agentWith({
  turns: [[call, ...bad, end]],
  tools: lookup(async () => executed.push('lookup')),
  outputProcessors: [{
    id: 'guard',
    processOutputStream: ({ part, abort }) => (part.type === 'text-delta' ? abort('bad') : part),
  }],
});
assert.equal(types(await readAll(await agent.stream('hi'))).at(-1), 'tripwire');
await settle();

assert.deepEqual(executed, ['lookup']);
sees('A tool whose call passed before a guardrail aborted in processOutputStream is executed after the abort.');
