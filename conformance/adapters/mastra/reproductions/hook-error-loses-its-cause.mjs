import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const reason = new RangeError('broken');
const agent = agentWith({ outputProcessors: [{ id: 'judge', processOutputStep() { throw reason; } }] });
const error = await agent.generate('hi').catch(error => error);

const causes = [];
for (let cause = error; cause instanceof Error; cause = cause.cause) causes.push(cause);
assert.match(error.message, /broken/);
assert.ok(!causes.includes(reason) && !causes.some(cause => cause instanceof RangeError));
sees('What a hook raised is not among the causes of the error that surfaces; only its text is left.');
