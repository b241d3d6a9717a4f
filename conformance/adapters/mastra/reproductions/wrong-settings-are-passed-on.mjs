import assert from 'node:assert/strict';
import { agentWith, lookup, say, scripted, sees } from './support/scripted.mjs';

const asked = [];
const model = scripted(say('done'));
const doGenerate = options => asked.push(options) && model.doGenerate(options);
const hot = { id: 'hot', processInputStep: () => ({ modelSettings: 'hot', toolChoice: 'sometimes' }) };
await agentWith({ model: { ...model, doGenerate }, tools: lookup(), inputProcessors: [hot] }).generate('hi');

assert.equal(asked.length, 1);
sees('Settings that are no settings, such as a text for modelSettings, are passed on to the provider.');
