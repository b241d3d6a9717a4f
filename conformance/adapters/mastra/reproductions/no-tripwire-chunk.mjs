import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees, types } from './support/scripted.mjs';

for (const [hook, reason] of [['processOutputStep', 'tripwire'], ['processOutputResult', 'stop']]) {
  const guard = { id: 'guard', [hook]: ({ abort }) => abort('bad') };
  const agent = agentWith({ turns: [say('bad')], outputProcessors: [guard] });
  const stream = await agent.stream('hi');
  const chunks = await readAll(stream);

  assert.equal(stream.tripwire.reason, 'bad');
  assert.ok(!types(chunks).includes('tripwire'));
  assert.equal(chunks.at(-1).payload.stepResult.reason, reason);
}
sees('An abort in processOutputStep or processOutputResult sends no tripwire chunk: the client reads on to `finish`.');
