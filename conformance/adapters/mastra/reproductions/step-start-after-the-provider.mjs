import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const happened = [];
const model = scripted(say('hello'));
const { doStream } = model;
model.doStream = options => happened.push('provider') && doStream(options);
const agent = agentWith({
  model,
  outputProcessors: [{ id: 'witness', processOutputStream: ({ part }) => happened.push(part.type) && part }],
});
await (await agent.stream('hi')).getFullOutput();

assert.deepEqual(happened.slice(0, 2), ['provider', 'step-start']);
sees('A processor learns that a step starts only after the provider was called.');
