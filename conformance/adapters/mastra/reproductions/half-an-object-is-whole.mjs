import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const structuredOutput = { schema: { type: 'object', properties: { all: { type: 'array' } }, required: ['all'] } };
const objectOf = async text => (await agentWith({ turns: [say(text)] }).generate('hi', { structuredOutput })).object;

assert.deepEqual(await objectOf('{"all": [1, 2'), { all: [1, 2] });
assert.deepEqual(await objectOf('{"all": [1, 2]} {"all": [3]}'), { all: [1, 2] });
sees('An answer that was cut off, or that has more behind its object, is taken for the object.');
