import assert from 'node:assert/strict';
import { PrefillErrorHandler } from '@mastra/core/processors';
import { agentWith, message, say, scripted, sees } from './support/scripted.mjs';

const refused = new Error('This model does not support assistant message prefill.');
const model = scripted(new Error('busy'), refused, say('done'));
const patient = { id: 'patient', processAPIError: ({ error }) => ({ retry: error.message === 'busy' }) };
const agent = agentWith({ model, errorProcessors: [patient, new PrefillErrorHandler()] });

await assert.rejects(agent.generate([message('q', 'count'), message('h', 'one,', 'assistant')]), /prefill/);
assert.equal(model.calls.length, 2);
sees('PrefillErrorHandler mends no refusal in a step that another error processor had repeated before.');
