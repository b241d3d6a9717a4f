import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const guard = { id: 'guard', processInput() {}, processOutputSteps() { throw new Error('never called'); } };
const { text } = await agentWith({ inputProcessors: [guard], outputProcessors: [guard] }).generate('hi');

assert.equal(text, 'hello');
sees('A method whose name is a letter off that of a hook is taken for no hook and never called.');
