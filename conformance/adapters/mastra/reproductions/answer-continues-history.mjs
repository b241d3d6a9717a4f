import assert from 'node:assert/strict';
import { agentWith, message, remembering, say, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const agent = agentWith({ memory, turns: [say('new')] });
await agent.generate([message('q1', 'asked'), message('a1', 'said by hand', 'assistant')], thread);

assert.deepEqual((await stored()).map(textOf), ['asked', 'said by hand|new']);
sees('An answer is appended to the message that the conversation ends with, where that is one of role assistant.');
