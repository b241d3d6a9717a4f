import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

async function callsWith(hook, array) {
  const model = scripted(say('bad'), say('good'));
  let aborted = false;
  function once(args) {
    if (aborted || (args.part && args.part.type !== 'text-delta')) return args.part;
    aborted = true;
    return args.abort('again', { retry: true });
  }
  const agent = agentWith({ model, maxProcessorRetries: 2, [array]: [{ id: 'guard', [hook]: once }] });
  const { tripwire } = await agent.generate('hi');
  return [model.calls.length, Boolean(tripwire)];
}
assert.deepEqual(await callsWith('processOutputStep', 'outputProcessors'), [2, false]);
assert.deepEqual(await callsWith('processOutputStream', 'outputProcessors'), [1, true]);
assert.deepEqual(await callsWith('processLLMResponse', 'inputProcessors'), [1, true]);
assert.deepEqual(await callsWith('processLLMRequest', 'inputProcessors'), [0, true]);
assert.deepEqual(await callsWith('processInputStep', 'inputProcessors'), [0, true]);
sees('abort with retry repeats the step from processOutputStep only; from every other hook it ends the run.');
