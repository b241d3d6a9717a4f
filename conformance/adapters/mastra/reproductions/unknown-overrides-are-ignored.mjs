import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(callTool('c1'), say('done'));
let executed = 0;
const limit = { id: 'limit', processInputStep: () => ({ activeTool: [] }) };
await agentWith({ model, tools: lookup(async () => ++executed), inputProcessors: [limit] }).generate('hi');

assert.equal(executed, 1);
sees('A misspelt name in what processInputStep or prepareStep returns is ignored, and the limit that was meant does not hold.');
