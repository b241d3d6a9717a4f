import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees } from './support/scripted.mjs';

const stopWhen = () => { throw new Error('broken'); };
const agent = agentWith({ turns: [callTool('c1'), say('done')], tools: lookup() });
const stream = await agent.stream('hi', { stopWhen });
const patience = new Promise(resolve => setTimeout(resolve, 500, 'still waiting'));
const ended = await Promise.race([readAll(stream).then(() => 'ended', () => 'raised'), patience]);

assert.equal(ended, 'still waiting');
sees('Where stopWhen raises, the stream never ends: no chunk comes any more, and nothing is raised.');
