import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const numbers = [];
const agent = agentWith({
  turns: [callTool('c1'), callTool('c2'), say('done')],
  tools: lookup(),
  outputProcessors: [{
    id: 'scanner',
    processOutputStep: ({ stepNumber }) => void numbers.push(['processOutputStep', stepNumber]),
    processToolResult: ({ stepNumber }) => void numbers.push(['processToolResult', stepNumber]),
  }],
});
await agent.generate('hi');

assert.deepEqual(numbers, [
  ['processOutputStep', 0], ['processToolResult', 1],
  ['processOutputStep', 1], ['processToolResult', 2],
  ['processOutputStep', 2],
]);
sees('processToolResult is told the number of the step after the one that called the tool.');
