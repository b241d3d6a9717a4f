import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees, settle, types } from './support/scripted.mjs';

for (const mode of ['generate', 'stream']) {
  const called = [];
  const agent = agentWith({
    turns: [say('bad')],
    inputProcessors: [{ id: 'witness', processLLMResponse: () => void called.push('processLLMResponse') }],
    outputProcessors: [{
      id: 'guard',
      processOutputStream({ part, abort }) {
        if (part.type === 'text-delta') abort('bad');
        called.push(part.type);
        return part;
      },
      processOutputStep: () => void called.push('processOutputStep'),
    }],
  });
  if (mode === 'generate') await agent.generate('hi');
  else assert.equal(types(await readAll(await agent.stream('hi'))).at(-1), 'tripwire');
  await settle();

  const after = called.slice(called.indexOf('text-start') + 1);
  assert.deepEqual(after, ['processLLMResponse', 'processOutputStep', 'step-finish']);
}
sees('After an abort in processOutputStream, processLLMResponse and processOutputStep run on the rejected answer.');
