import assert from 'node:assert/strict';
import { InMemoryServerCache } from '@mastra/core/cache';
import { ResponseCache } from '@mastra/core/processors';
import { agentWith, finish, say, scripted, sees } from './support/scripted.mjs';

// What a second request gets where the first one's answer ended so; `cancelled`: its caller gave it up meanwhile.
async function second(end, cancelled = false) {
  const caller = new AbortController();
  const model = scripted([...say('half').slice(0, -1), ...end], say('whole'));
  const gives = { id: 'gives up', processOutputStream: ({ part }) => (cancelled && part.type === 'text-delta' && caller.abort(), part) };
  const cache = new ResponseCache({ cache: new InMemoryServerCache() });
  const agent = agentWith({ model, inputProcessors: [cache], outputProcessors: [gives] });
  await (await agent.stream('hi', { abortSignal: caller.signal })).consumeStream();
  const { text } = await (await agent.stream('hi')).getFullOutput();
  assert.equal(model.calls.length, 1);
  return text;
}

assert.equal(await second([finish('length')]), 'half');
assert.equal(await second([finish('content-filter')]), 'half');
assert.equal(await second([]), 'half');
assert.equal(await second([finish('stop')], true), '');
sees('ResponseCache keeps answers that were cut off, filtered, cancelled or never finished, and replays them.');
