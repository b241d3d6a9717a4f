import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const executed = [];
const broken = { id: 'cache', processLLMResponse() { throw new Error('the cache broke'); } };
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => executed.push('lookup')),
  inputProcessors: [broken],
});
await assert.rejects(agent.generate('hi'), /the cache broke/);

assert.deepEqual(executed, ['lookup']);
sees('Where processLLMResponse crashes, the tools of that step are executed before the run fails.');
