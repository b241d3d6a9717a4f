import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, scripted, sees } from './support/scripted.mjs';

const happened = [];
const [call, end] = callTool('c1');
const agent = agentWith({
  model: scripted([call, ...say('and a word more').slice(0, -1), end], say('done')),
  tools: lookup(async () => happened.push('tool')),
  outputProcessors: [{
    id: 'filter',
    async processOutputStream({ part }) {
      await new Promise(resolve => setTimeout(resolve, 10));
      happened.push(part.type);
      return part;
    },
  }],
});
await readAll(await agent.stream('hi'));

assert.ok(happened.indexOf('tool-call') < happened.indexOf('tool'));
assert.ok(happened.indexOf('tool') < happened.indexOf('text-end'));
sees('In stream(), without a processOutputStep hook, a tool starts while the answer that calls it is still filtered.');
