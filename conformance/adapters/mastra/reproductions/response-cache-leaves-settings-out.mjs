import assert from 'node:assert/strict';
import { InMemoryServerCache } from '@mastra/core/cache';
import { ResponseCache } from '@mastra/core/processors';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('cold'), say('other'));
const agent = agentWith({ model, inputProcessors: [new ResponseCache({ cache: new InMemoryServerCache() })] });
const texts = [];
for (const options of [
  { modelSettings: { temperature: 0 } },
  { modelSettings: { temperature: 1 } },
  { providerOptions: { mock: { effort: 'low' } } },
  { toolChoice: 'none' },
]) texts.push((await agent.generate('hi', options)).text);

assert.deepEqual(texts, ['cold', 'cold', 'cold', 'cold']);
assert.equal(model.calls.length, 1);
sees('ResponseCache answers a request with other settings as if it were the same: only prompt, model and step count.');
