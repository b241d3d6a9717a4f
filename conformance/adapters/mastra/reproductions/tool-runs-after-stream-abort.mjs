import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees, settle, types } from './support/scripted.mjs';

const [call, end] = callTool('c1');
function guarded(type) {
  const executed = [];
  const agent = agentWith({
    turns: [[call, ...say('bad').slice(0, -1), end]],
    tools: lookup(async () => executed.push('lookup')),
    outputProcessors: [{
      id: 'guard',
      processOutputStream: ({ part, abort }) => (part.type === type ? abort('bad') : part),
    }],
  });
  return { agent, executed };
}

const early = guarded('text-delta');
assert.equal(types(await readAll(await early.agent.stream('hi'))).at(-1), 'tripwire');
await settle();
assert.deepEqual(early.executed, ['lookup']);

const own = guarded('tool-call');
assert.equal((await own.agent.generate('hi')).tripwire.reason, 'bad');
await settle();
assert.deepEqual(own.executed, ['lookup']);
sees('After an abort in processOutputStream tools run: in generate() even the one whose call the guardrail aborted on.');
