import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const seen = [];
const model = scripted(say('hello'));
const look = ({ systemMessages }) => void seen.push(systemMessages.map(({ content }) => content));
const agent = agentWith({ model, inputProcessors: [{ id: 'scanner', processInput: look, processInputStep: look }] });
await agent.generate('hi', { system: 'Be brief.' });

assert.deepEqual(seen, [['Be kind.'], ['Be kind.']]);
assert.deepEqual(model.calls[0].slice(0, 2).map(({ content }) => content), ['Be kind.', 'Be brief.']);
sees("systemMessages lacks the ones with a tag, the caller's own `system` among them.");
