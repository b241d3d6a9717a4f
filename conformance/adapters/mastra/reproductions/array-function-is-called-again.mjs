import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const instances = [];
let calls = 0;
function inputProcessors() {
  const instance = ++calls;
  return [{
    id: 'counter',
    processInput: () => void instances.push(instance),
    processInputStep: () => void instances.push(instance),
    processLLMRequest: () => void instances.push(instance),
  }];
}
await agentWith({ inputProcessors }).generate('hi');

assert.ok(calls > 1);
assert.equal(new Set(instances).size, 3);
sees('A function that gives the processors is called several times a request: each hook runs on an object of its own.');
