import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

let asked = 0;
const model = scripted(callTool('c1'), say('done'));
const stopWhen = () => { asked += 1; return false; };
await agentWith({ model, tools: lookup() }).generate('hi', { maxSteps: 1, stopWhen });

assert.deepEqual([model.calls.length, asked], [1, 1]);
sees('stopWhen is asked behind the step with which the limit ends the run.');
