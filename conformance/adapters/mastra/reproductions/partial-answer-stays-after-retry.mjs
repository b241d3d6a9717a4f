import assert from 'node:assert/strict';
import { agentWith, readAll, remembering, say, scripted, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const broken = [...say('half').slice(0, 2), { type: 'error', error: new Error('overloaded') }];
const model = scripted(broken, say('whole'));
const agent = agentWith({
  memory,
  model,
  maxProcessorRetries: 1,
  errorProcessors: [{ id: 'mend', processAPIError: () => ({ retry: true }) }],
});
await readAll(await agent.stream('hi', thread));

assert.equal(model.calls.length, 2);
assert.match(JSON.stringify(model.calls[1]), /half/);
assert.match(textOf((await stored())[1]), /half.*whole/);
sees('What the model said before it failed stays in the prompt of the repeated call, in the answer and in the store.');
