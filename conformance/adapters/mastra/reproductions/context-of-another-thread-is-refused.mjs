import assert from 'node:assert/strict';
import { agentWith, message, remembering, sees, thread } from './support/scripted.mjs';

const { memory } = await remembering();
const context = [{ ...message('x1', 'quoted'), threadId: 'another', resourceId: 'resource' }];

await assert.rejects(agentWith({ memory }).generate('hi', { ...thread, context }), /threadId/);
sees('A message of another conversation cannot be quoted as context: the call fails.');
