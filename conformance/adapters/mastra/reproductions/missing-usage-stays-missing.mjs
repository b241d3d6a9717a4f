import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const finish = { type: 'finish', finishReason: 'stop', usage: { outputTokens: 3 } };
const agent = agentWith({ turns: [[...say('hello').slice(0, -1), finish]] });
const { steps } = await agent.generate('hi');

assert.equal(steps[0].usage.inputTokens, undefined);
sees('Where a provider leaves out its usage, or a number of it, the usage of the step lacks it.');
