import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const withText = [...say('one').slice(0, -1), ...callTool('c1')];
const generated = await agentWith({ turns: [withText, say('two')], tools: lookup() }).generate('hi');
const stream = await agentWith({ turns: [withText, say('two')], tools: lookup() }).stream('hi');
await readAll(stream);

assert.deepEqual([generated.text, await stream.text], ['onetwo', 'two']);
sees('The text of a run of several steps is that of all in generate(), and that of the last in stream().');
