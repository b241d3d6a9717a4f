import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const endless = {};
endless.self = endless;
const asked = [];
const model = scripted(say('done'));
const doGenerate = options => asked.push(options) && model.doGenerate(options);
const inputProcessors = [{ id: 'chooser', processInputStep: () => ({ modelSettings: { more: endless } }) }];
await agentWith({ model: { ...model, doGenerate }, inputProcessors }).generate('hi');

assert.equal(asked[0].more.self, asked[0].more);
sees('Settings that hold themselves are passed on to the provider.');
