import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const structuredOutput = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const outputProcessors = [{ id: 'guard', processOutputResult: ({ abort }) => abort('not this') }];
const result = await agentWith({ turns: [say('{"n":1}')], outputProcessors }).generate('hi', { structuredOutput });

assert.deepEqual([result.tripwire.reason, result.object], ['not this', { n: 1 }]);
sees('An answer that a processor withdrew in processOutputResult is there all the same, as an object.');
