import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const turns = Array.from({ length: 7 }, (_, number) => callTool(`c${number}`));
const model = scripted(...turns, say('done'));
await agentWith({ model, tools: lookup() }).generate('hi', { stopWhen: () => false });

assert.equal(model.calls.length, 8);
sees('With stopWhen the default limit of steps is gone.');
