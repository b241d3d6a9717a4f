import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const whole = agentWith({ inputProcessors: [{ id: 'guard', processInputStep: ({ abort }) => abort('no') }] });
const stop = ({ part, abort }) => (part.type === 'text-delta' ? abort('no') : part);
const streamed = agentWith({ outputProcessors: [{ id: 'guard', processOutputStream: stop }] });
const scanned = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(),
  outputProcessors: [{ id: 'guard', processToolResult: ({ abort }) => abort('no') }],
});
const last = async agent => (await readAll(await agent.stream('hi'))).at(-1);

assert.ok((await last(whole)).runId);
for (const agent of [streamed, scanned]) {
  const { type, runId, from } = await last(agent);
  assert.deepEqual([type, runId, from], ['tripwire', undefined, undefined]);
}
sees('The tripwire chunk of an abort in processOutputStream or processToolResult has neither runId nor from.');
