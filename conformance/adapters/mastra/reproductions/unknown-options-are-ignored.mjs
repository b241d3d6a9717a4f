import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const guard = { id: 'guard', processOutputStep() { throw new Error('never called'); } };
const { text } = await agentWith({}).generate('hi', { outputProcessor: [guard] });

assert.equal(text, 'hello');
sees('A misspelt option of a call is ignored.');
