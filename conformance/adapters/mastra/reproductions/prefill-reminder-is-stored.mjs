import assert from 'node:assert/strict';
import { PrefillErrorHandler } from '@mastra/core/processors';
import { agentWith, remembering, say, scripted, sees, settle, thread } from './support/scripted.mjs';

const refused = new Error('This model does not support assistant message prefill.');
const { memory, stored } = await remembering();
const model = scripted(refused, say('done'));
const agent = agentWith({ memory, model, errorProcessors: [new PrefillErrorHandler()] });
await agent.generate('hi', thread);
await settle();
assert.deepEqual((await stored()).map(({ role }) => role), ['user', 'signal', 'assistant']);

await agent.generate('and then?', thread);
assert.match(JSON.stringify(model.calls.at(-1)), /system-reminder/);
sees('The message that PrefillErrorHandler puts behind a prompt is stored, and goes out with every later request.');
