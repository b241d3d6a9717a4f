import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const got = [];
const redacts = {
  id: 'redacts',
  processOutputResult({ messages }) {
    const text = messages[0].content.parts.find(({ type }) => type === 'text');
    text.text = '***';
  },
};
const reads = { id: 'reads', processOutputResult: ({ result }) => void got.push(result.text, result.steps[0].text) };
const turns = [[...say('secret').slice(0, -1), ...callTool('c1')], say('done')];
const agent = agentWith({ turns, tools: lookup(), outputProcessors: [redacts, reads] });
const { steps } = await agent.generate('hi');

assert.deepEqual([...got, steps[0].text], ['secretdone', 'secret', 'secret']);
sees('What processOutputResult changes in the response changes neither result for the next processor nor the steps.');
