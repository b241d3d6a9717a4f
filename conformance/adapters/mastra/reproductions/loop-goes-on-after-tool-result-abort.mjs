import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, scripted, sees, settle, types } from './support/scripted.mjs';

for (const mode of ['generate', 'stream']) {
  const model = scripted(callTool('c1'), say('answered all the same'));
  const steps = [];
  const agent = agentWith({
    model,
    tools: lookup(),
    inputProcessors: [{ id: 'witness', processInputStep: ({ stepNumber }) => void steps.push(stepNumber) }],
    outputProcessors: [{ id: 'guard', processToolResult: ({ abort }) => abort('injected') }],
  });
  if (mode === 'generate') await agent.generate('hi');
  else assert.equal(types(await readAll(await agent.stream('hi'))).at(-1), 'tripwire');
  await settle();

  assert.deepEqual(steps, [0, 1]);
  assert.equal(model.calls.length, 2);
}
sees('After an abort in processToolResult the run goes on behind the ended call: another step, another model call.');
