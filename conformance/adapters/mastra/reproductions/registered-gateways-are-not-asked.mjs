import assert from 'node:assert/strict';
import { Mastra } from '@mastra/core';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const gateway = {
  id: 'scripted',
  name: 'scripted',
  handlesModel: id => id === 'mock/one',
  fetchProviders: async () => ({}),
  buildUrl: () => undefined,
  getApiKey: async () => 'key',
  resolveLanguageModel: () => scripted(say('found')),
};
const choose = { id: 'choose', processInputStep: () => ({ model: 'mock/one' }) };
const agent = agentWith({ inputProcessors: [choose] });
new Mastra({ agents: { agent }, gateways: { scripted: gateway }, logger: false });

await assert.rejects(agent.generate('hi'), /Could not find config for provider mock/);
sees('The id of a model that a processor returns is not looked up in the gateways that the user registered.');
