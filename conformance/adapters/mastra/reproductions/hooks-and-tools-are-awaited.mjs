import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, readAll, say, sees, settle } from './support/scripted.mjs';

const controller = new AbortController();
let goOn;
const slow = async () => {
  controller.abort();
  await new Promise(resolve => { goOn = resolve; });
  return 'late';
};
const agent = agentWith({ turns: [callTool('c1'), say('done')], tools: lookup(slow) });
const stream = await agent.stream('hi', { abortSignal: controller.signal });
let over = false;
const reading = readAll(stream).then(() => { over = true; });
await settle();

assert.equal(over, false);
goOn();
await reading;
sees('Whoever stops a request waits until the tool or the hook that is running has ended.');
