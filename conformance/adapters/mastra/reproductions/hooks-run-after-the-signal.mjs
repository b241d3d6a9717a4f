import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const controller = new AbortController();
const called = [];
const note = (id, hooks) => Object.fromEntries([['id', id], ...hooks.map(hook => [hook, () => void called.push(hook)])]);
const stops = { id: 'stops', processOutputStep: () => controller.abort() };
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => called.push('tool')),
  inputProcessors: [note('in', ['processLLMRequest'])],
  outputProcessors: [stops, note('out', ['processOutputStep', 'processToolResult', 'processOutputResult'])],
});
await agent.generate('hi', { abortSignal: controller.signal }).catch(() => {});

for (const hook of ['processOutputStep', 'tool', 'processToolResult', 'processOutputResult']) {
  assert.ok(called.includes(hook), hook);
}
assert.equal(called.filter(hook => hook === 'processLLMRequest').length, 2);

const early = [];
const guard = { id: 'guard', processInput: () => void early.push('processInput') };
const late = agentWith({ inputProcessors: [guard] });
await late.generate('hi', { abortSignal: AbortSignal.abort() }).catch(() => {});
assert.deepEqual(early, ['processInput']);
sees('After the caller has stopped a request its hooks run on, tools start, and the next step begins.');
