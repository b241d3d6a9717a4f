import assert from 'node:assert/strict';
import { agentWith, finish, lookup, readAll, say, scripted, sees } from './support/scripted.mjs';

const call = id => ({ type: 'tool-call', toolCallId: 'same', toolName: 'lookup', input: JSON.stringify({ id }) });
const executed = [];
const model = scripted([call(1), call(2), finish('tool-calls')], say('done'));
const agent = agentWith({ model, tools: lookup(async ({ id }) => executed.push(id)) });
await readAll(await agent.stream('hi'));

assert.deepEqual(executed, [1]);
sees('Of two calls that come with one id only one is executed, or has a result.');
