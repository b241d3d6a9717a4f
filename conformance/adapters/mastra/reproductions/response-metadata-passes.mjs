import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees, types } from './support/scripted.mjs';

const passed = [];
const agent = agentWith({
  turns: [[{ type: 'response-metadata', id: 'r1', modelId: 'one' }, ...say('hello')]],
  outputProcessors: [{ id: 'witness', processOutputStream: ({ part }) => passed.push(part.type) && part }],
});
const read = types(await readAll(await agent.stream('hi')));

assert.ok(passed.includes('response-metadata'));
assert.ok(!read.includes('response-metadata'));
sees('processOutputStream gets a response-metadata chunk that no client ever receives.');
