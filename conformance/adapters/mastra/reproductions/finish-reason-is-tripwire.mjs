import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const guard = { id: 'guard', processOutputStep: ({ abort }) => abort('no') };
const agent = () => agentWith({ turns: [say('bad')], outputProcessors: [guard] });
const stream = await agent().stream('hi');
await readAll(stream);

assert.deepEqual([(await agent().generate('hi')).finishReason, await stream.finishReason], ['tripwire', 'tripwire']);
sees('After an abort in processOutputStep the finish reason is `tripwire`, not the documented `other`.');
