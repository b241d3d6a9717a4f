import assert from 'node:assert/strict';
import { agentWith, remembering, say, sees, settle, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const pause = () => new Promise(resolve => setTimeout(resolve, 30));
const agent = agentWith({ memory, turns: [say('answer')], inputProcessors: [{ id: 'slow', processInputStep: pause }] });
await Promise.all([agent.generate('first', thread), agent.generate('second', thread)]);
await settle();

assert.deepEqual((await stored()).map(({ role }) => role), ['user', 'user', 'assistant', 'assistant']);
assert.equal(textOf((await stored()).at(-1)), 'answer');
sees('Two generate() calls at once on one thread are stored with their questions and answers mixed.');
