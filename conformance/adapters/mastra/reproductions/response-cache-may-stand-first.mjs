import assert from 'node:assert/strict';
import { InMemoryServerCache } from '@mastra/core/cache';
import { ResponseCache } from '@mastra/core/processors';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

let name = 'ann';
const names = {
  id: 'names',
  processLLMRequest: ({ prompt }) => ({
    prompt: [...prompt, { role: 'user', content: [{ type: 'text', text: `i am ${name}` }] }],
  }),
};
const model = scripted(say('hi ann'), say('hi bob'));
const cache = new ResponseCache({ cache: new InMemoryServerCache() });
const agent = agentWith({ model, inputProcessors: [cache, names] });
await agent.generate('hi');
name = 'bob';

assert.equal((await agent.generate('hi')).text, 'hi ann');
assert.equal(model.calls.length, 1);
sees('ResponseCache is taken before a processor that changes the prompt, and answers prompts that are not sent.');
