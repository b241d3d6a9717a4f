import assert from 'node:assert/strict';
import { agentWith, remembering, say, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const agent = agentWith({
  memory,
  turns: [say('something vile')],
  outputProcessors: [{ id: 'guard', processOutputStep: ({ abort }) => abort('vile') }],
});
const result = await agent.generate('hi', thread);

assert.equal(result.tripwire.reason, 'vile');
assert.deepEqual((await stored()).map(textOf), ['hi', 'something vile']);
sees('An answer that a guardrail rejected in processOutputStep is stored, and recalled in the next request.');
