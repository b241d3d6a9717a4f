import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const structuredOutput = { schema, errorStrategy: 'fallback', fallbackValue: { n: 0 } };
const result = await agentWith({ turns: [say('none')] }).generate('hi', { structuredOutput });

assert.deepEqual([result.object, result.usedFallbackValue, result.error], [{ n: 0 }, true, undefined]);
sees('Where a fallback takes the place of an answer, nothing says what was wrong with the answer.');
