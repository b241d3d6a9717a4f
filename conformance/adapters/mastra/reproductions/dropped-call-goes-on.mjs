import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

for (const [mode, expected] of [['generate', ['tool', 'tool']], ['stream', []]]) {
  const executed = [];
  const model = scripted(callTool('c1', 'c2'), say('done'));
  const agent = agentWith({
    model,
    tools: lookup(async () => executed.push('tool')),
    outputProcessors: [{ id: 'guard', processOutputStream: ({ part }) => (part.type === 'tool-call' ? null : part) }],
  });
  if (mode === 'generate') await agent.generate('hi');
  else await (await agent.stream('hi')).getFullOutput();

  assert.deepEqual(executed, expected);
  assert.equal(model.calls.length, 2);
}
sees('Tool calls that a processor dropped are executed by generate(); in both modes the model is called again.');
