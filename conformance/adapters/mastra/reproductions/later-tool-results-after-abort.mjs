import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees, settle } from './support/scripted.mjs';

const called = [];
const agent = agentWith({
  turns: [callTool('c1', 'c2'), say('done')],
  tools: lookup(),
  outputProcessors: [{
    id: 'guard',
    processToolResult: ({ toolCallId, abort }) => called.push(toolCallId) === 1 && abort('injected'),
  }],
});
await agent.generate('hi');
await settle();

assert.deepEqual(called, ['c1', 'c2']);
sees('After an abort in processToolResult the results of the other calls are still handed to it.');
