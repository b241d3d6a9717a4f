import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const notes = { id: 'notes', processInput({ systemMessages }) { systemMessages[0].content = 'spoiled'; } };
await agentWith({ model, inputProcessors: [notes] }).generate('hi');

assert.deepEqual(model.calls[0][0].content, 'spoiled');
sees('What a processor does to systemMessages while it looks at them is what the model is told.');
