import assert from 'node:assert/strict';
import { createTool } from '@mastra/core/tools';
import { agentWith, callTool, say, scripted, sees } from './support/scripted.mjs';

const seen = [];
const inputProcessors = [{ id: 'one', processInput: ({ messages }) => { seen.push('processInput'); return messages; } }];
const lookup = createTool({ id: 'lookup', description: 'looks up', inputSchema: { type: 'object' }, execute: 'a text' });
const asked = tools => agentWith({ model: scripted(callTool('c1'), say('done')), tools, inputProcessors });

assert.equal((await asked({ lookup }).generate('hi')).text, 'done');
await assert.rejects(asked({}).generate('hi', { stopWhen: 3 }));
assert.deepEqual(seen, ['processInput', 'processInput']);
sees('What is no function or no tool is noticed when it is needed, if at all: a text for an execute, a number for stopWhen.');
