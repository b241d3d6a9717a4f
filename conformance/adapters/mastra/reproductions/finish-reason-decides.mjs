import assert from 'node:assert/strict';
import { agentWith, callTool, finish, lookup, say, scripted, sees } from './support/scripted.mjs';

const cut = scripted([...callTool('c1').slice(0, -1), finish('length')], say('never asked for'));
await agentWith({ model: cut, tools: lookup() }).generate('hi');
assert.equal(cut.calls.length, 1);

const callsNothing = scripted([...say('one').slice(0, -1), finish('tool-calls')], say('two'));
await agentWith({ model: callsNothing, tools: lookup() }).generate('hi');
assert.equal(callsNothing.calls.length, 2);
sees('A step that was cut off ends the run though its calls were answered; one that only says tool-calls does not.');
