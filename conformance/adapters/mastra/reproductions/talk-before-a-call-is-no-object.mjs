import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const structuredOutput = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const [start, text, end] = say('let me see');
const turns = [[start, text, end, ...callTool('c1')], say('{"n":1}')];
const answer = turns => agentWith({ turns, tools: lookup() }).generate('hi', { structuredOutput });
const raised = await answer(turns).catch(error => error);
const { object } = await answer([callTool('c1'), say('{"n":1}')]);

assert.ok(raised instanceof Error);
assert.deepEqual(object, { n: 1 });
sees('Where the model says something before it calls a tool, that is taken for the object: there is none in the end.');
