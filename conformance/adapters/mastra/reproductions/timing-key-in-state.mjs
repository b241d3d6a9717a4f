import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const states = [];
function look({ part, state }) {
  states.push(Object.keys(state));
  return part;
}
const counter = { id: 'counter', processOutputStream: look };
const agent = agentWith({ turns: [say('one', 'two')], outputProcessors: [counter] });
await agent.generate('hi');

assert.deepEqual(states[0], []);
assert.ok(states.slice(1).every(keys => keys.join() === '__outputStreamHookDurationMs_counter'));
sees('From the second chunk on, a processor finds a key of the framework in its own state.');
