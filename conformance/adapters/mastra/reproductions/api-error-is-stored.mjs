import assert from 'node:assert/strict';
import { agentWith, remembering, sees, settle, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
await assert.rejects(agentWith({ memory, turns: [new Error('overloaded')] }).generate('hi', thread), /overloaded/);
await settle();

assert.deepEqual((await stored()).map(textOf), ['hi', 'error']);
sees('A request whose model call failed is stored, with an error in place of the answer.');
