import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const content = text => ({ format: 2, parts: [{ type: 'text', text }] });
const message = (id, role, text) => ({ id, role, createdAt: new Date(), content: content(text) });
const input = [message('1', 'user', 'one'), message('2', 'assistant', 'two'), message('3', 'assistant', 'three')];
await agentWith({ model, instructions: '' }).generate([...input, message('4', 'user', 'four')]);

const said = model.calls[0].map(({ role, content }) => [role, ...content.map(({ text }) => text)]);
assert.deepEqual(said, [['user', 'one'], ['assistant', 'two', 'three'], ['user', 'four']]);
sees('Two assistant messages in a row reach the provider as one.');
