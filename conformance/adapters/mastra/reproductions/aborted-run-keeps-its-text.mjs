import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

const guard = { id: 'guard', processOutputStep: ({ text, abort }) => void (text === 'bad' && abort('no')) };
const first = [...say('one').slice(0, -1), ...callTool('c1')];
const agent = agentWith({ turns: [first, say('bad')], tools: lookup(), outputProcessors: [guard] });
const { text, steps } = await agent.generate('hi');
const last = { id: 'guard', processOutputResult: ({ abort }) => abort('no') };
const whole = await agentWith({ turns: [say('bad')], outputProcessors: [last] }).generate('hi');

assert.deepEqual([text, steps.length, whole.text], ['onebad', 2, 'bad']);
sees('After an abort generate() returns text: after one in processOutputResult the very answer that was withdrawn.');
