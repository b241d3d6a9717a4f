import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('bad'), say('good'));
const agent = agentWith({
  model,
  errorProcessors: [{ id: 'mend', processAPIError: () => undefined }],
  outputProcessors: [{ id: 'guard', processOutputStep: ({ abort }) => abort('again', { retry: true }) }],
});
const { tripwire } = await agent.generate('hi');

assert.deepEqual([model.calls.length, tripwire.retry], [1, true]);
sees('Error processors bring no retries for aborts: without a limit of its own the first abort with retry ends the run.');
