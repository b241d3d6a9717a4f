import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const seen = [];
const own = { id: 'prepare-step', processInputStep: ({ state }) => void (state.mine = true) };
const prepareStep = ({ state }) => void seen.push(state?.mine);
const { text } = await agentWith({ inputProcessors: [own] }).generate('hi', { prepareStep });

assert.equal(text, 'hello');
assert.equal(seen.length, 1);
sees('A processor may be called prepare-step, as the framework\'s own is.');
