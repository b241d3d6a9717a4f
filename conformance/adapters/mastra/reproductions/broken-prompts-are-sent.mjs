import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const slips = { id: 'slips', processLLMRequest: ({ prompt }) => { prompt[0] = 'a text'; } };

assert.equal((await agentWith({ model, inputProcessors: [slips] }).generate('hi')).text, 'hello');
assert.equal(model.calls[0][0], 'a text');
sees('A prompt that a processor broke in place is sent to the provider.');
