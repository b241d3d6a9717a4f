import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const called = [];
const agent = agentWith({ inputProcessors: [{ id: 'looks', processInput: () => void called.push('processInput') }] });
const robot = { id: 'u2', role: 'robot', content: { format: 2, parts: [{ type: 'text', text: 'hi' }] } };
const error = await agent.generate([robot]).catch(raised => raised);

assert.match(error.message, /role/i);
assert.doesNotMatch(error.message, /u2/);
sees('Where a message is refused the error does not say which one.');
