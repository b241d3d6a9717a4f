import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const seen = [];
const choose = { id: 'choose', processInputStep: () => ({ model: 'nowhere/none' }) };
const look = { id: 'look', processInputStep: ({ model }) => void seen.push(model.modelId) };
const failed = await agentWith({ inputProcessors: [choose, look] }).generate('hi').catch(error => error);

assert.deepEqual(seen, ['none']);
assert.match(failed.message, /nowhere/);
assert.doesNotMatch(failed.message, /choose/);
sees('A model id that cannot be found fails where the provider is called, without a word of the processor that returned it.');
