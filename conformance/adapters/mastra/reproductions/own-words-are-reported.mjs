import assert from 'node:assert/strict';
import { agentWith, finish, say, sees } from './support/scripted.mjs';

const agent = agentWith({ turns: [[...say('hello').slice(0, -1), finish('tool-use')]] });

assert.equal((await agent.generate('hi', { maxSteps: 1 })).finishReason, 'tool-use');
sees('A finish reason that no other provider knows is reported as the provider says it.');
