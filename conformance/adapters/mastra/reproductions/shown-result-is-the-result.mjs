import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const hides = ({ part }) =>
  part.type === 'tool-result' ? { ...part, payload: { ...part.payload, result: 'hidden' } } : part;
const agent = agentWith({
  turns: [callTool('c1'), say('done')],
  tools: lookup(async () => ({ found: 1 })),
  outputProcessors: [{ id: 'hides', processOutputStream: hides }],
});
const { steps } = await agent.generate('hi');

assert.equal(steps[0].toolResults[0].payload.result, 'hidden');
sees('A tool-result chunk that was changed for the screen changes the result that the steps report.');
