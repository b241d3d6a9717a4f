import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const controller = new AbortController();
const stops = { id: 'stops', processOutputStep: () => controller.abort() };
const agent = agentWith({ turns: [say('whole')], outputProcessors: [stops] });
const { text } = await agent.generate('hi', { abortSignal: controller.signal });

assert.equal(typeof text, 'string');
sees('generate() returns as if nothing had happened when its request was stopped.');
