import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const limited = returned => {
  const inputProcessors = [{ id: 'limits', processInputStep: () => returned }, { id: 'looks', processInputStep() {} }];
  return agentWith({ inputProcessors }).generate('hi');
};

await assert.rejects(limited({ messages: undefined, toolChoice: 'none' }));
await assert.rejects(limited({ messages: null }));
await limited({ toolChoice: 'none' });
sees('A member of what processInputStep returns that has no value breaks the run instead of counting as left out.');
