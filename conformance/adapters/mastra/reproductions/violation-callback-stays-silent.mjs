import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees, settle } from './support/scripted.mjs';

async function reportsFrom(hook, array) {
  const reports = [];
  const abort = args => (args.part && args.part.type !== 'text-delta' ? args.part : args.abort('no'));
  const guard = { id: 'guard', [hook]: abort, onViolation: violation => void reports.push(violation) };
  const agent = agentWith({ turns: [callTool('c1'), say('done')], tools: lookup(), [array]: [guard] });
  await agent.generate('hi');
  await settle();
  return reports.length;
}
for (const hook of ['processInput', 'processInputStep']) assert.equal(await reportsFrom(hook, 'inputProcessors'), 0);
for (const hook of ['processLLMRequest', 'processLLMResponse']) {
  assert.equal(await reportsFrom(hook, 'inputProcessors'), 1);
}
for (const hook of ['processOutputStream', 'processOutputStep', 'processToolResult', 'processOutputResult']) {
  assert.equal(await reportsFrom(hook, 'outputProcessors'), 0);
}
sees('onViolation is called for aborts in processLLMRequest and processLLMResponse only.');
