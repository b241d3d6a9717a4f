import assert from 'node:assert/strict';
import { TripWire } from '@mastra/core/agent';
import { agentWith, say, sees } from './support/scripted.mjs';

async function raised(hook, array) {
  function raise() {
    throw new TripWire('');
  }
  const agent = agentWith({ turns: [say('bad')], [array]: [{ id: 'guard', [hook]: raise }] });
  return (await agent.generate('hi')).tripwire;
}
const late = await raised('processOutputStep', 'outputProcessors');
const early = await raised('processInput', 'inputProcessors');

assert.ok(late && late.processorId !== 'guard');
assert.ok(early && !early.reason.includes('guard'));
sees('A TripWire that a processor raises itself has neither its id nor a reason that names it.');
