import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const controller = new AbortController();
const agent = agentWith({
  turns: [say('one', 'two')],
  outputProcessors: [{ id: 'stops', processOutputStream: ({ part }) => (controller.abort('the user left'), part) }],
});
const chunks = await readAll(await agent.stream('hi', { abortSignal: controller.signal }));
const end = chunks.find(({ type }) => type === 'abort');

assert.ok(end && !JSON.stringify(end).includes('the user left'));
sees('The abort chunk does not say why the request was stopped.');
