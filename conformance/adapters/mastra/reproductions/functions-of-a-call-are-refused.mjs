import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const look = { id: 'look', processInput() {} };

await assert.rejects(agentWith({}).generate('hi', { inputProcessors: () => [look] }), /is not a function/);
sees('A function in the place of one of a call\'s arrays fails the call.');
