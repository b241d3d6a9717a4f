import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const executed = [];
const agent = agentWith({ turns: [callTool('c1'), say('done')], tools: lookup(async args => executed.push(args)) });
await agent.generate('hi', { toolChoice: 'none' });

assert.deepEqual(executed, [{ id: 1 }]);
sees('A call that comes although tool choice is none is executed.');
