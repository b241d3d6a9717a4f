import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

for (const mode of ['generate', 'stream']) {
  const happened = [];
  const agent = agentWith({
    turns: [callTool('c1'), say('done')],
    tools: lookup(async () => happened.push('tool')),
    outputProcessors: [{
      id: 'guard',
      processOutputStep: ({ abort }) => happened.push('abort') && abort('not this tool'),
      processToolResult: () => void happened.push('processToolResult'),
      processOutputResult: () => void happened.push('processOutputResult'),
    }],
  });
  const result = mode === 'generate' ? await agent.generate('hi') : await (await agent.stream('hi')).getFullOutput();

  assert.deepEqual(happened, ['abort', 'tool', 'processToolResult', 'processOutputResult']);
  assert.equal(result.finishReason, 'tripwire');
}
sees('A guardrail that aborts in processOutputStep does not stop the tools: they run, and so do the later hooks.');
