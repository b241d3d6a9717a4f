import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const texts = ({ part }) => (part.type.startsWith('text-') ? part : null);
const agent = agentWith({ turns: [say('hello')], outputProcessors: [{ id: 'texts', processOutputStream: texts }] });
const { finishReason, steps, usage } = await agent.generate('hi');

assert.deepEqual([finishReason, steps, usage.inputTokens], [undefined, [], undefined]);
sees('A filter that drops step-finish and finish leaves a run without steps, usage and finish reason.');
