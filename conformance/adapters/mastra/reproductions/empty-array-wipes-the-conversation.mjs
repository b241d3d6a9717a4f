import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, remembering, say, scripted, sees, thread } from './support/scripted.mjs';

for (const hook of ['processOutputStep', 'processToolResult']) {
  const { memory, stored } = await remembering();
  const model = scripted(callTool('c1'), say('done'));
  const tidy = { id: 'guard', [hook]: () => [] };
  await agentWith({ memory, model, tools: lookup(), outputProcessors: [tidy] }).generate('hi', thread);

  assert.deepEqual(model.calls[1].map(({ role }) => role), ['system']);
  assert.ok(!JSON.stringify(await stored()).includes('"hi"'));
}
sees('A guardrail that returns [], as the documented example does, wipes the conversation from prompt and store.');
