import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const nameless = { processInput() { throw new Error('never called'); } };
const misplaced = { id: 'misplaced', processOutputStep() { throw new Error('never called'); } };
const { text } = await agentWith({ inputProcessors: [nameless, misplaced] }).generate('hi');

assert.equal(text, 'hello');
sees('A processor without an id, or without a hook of its array, is left out without a word.');
