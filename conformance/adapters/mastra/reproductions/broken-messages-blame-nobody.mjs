import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const breaking = edit => agentWith({
  model,
  inputProcessors: [{ id: 'clumsy', processInput: ({ messages }) => (edit(messages[0]), messages) }],
});
const { text } = await breaking(message => { message.content = 5; }).generate('a question');
const error = await breaking(message => { message.role = 'robot'; }).generate('a question').catch(raised => raised);

assert.ok(text === 'hello' && !JSON.stringify(model.calls[0]).includes('a question'));
assert.ok(error instanceof Error && !error.message.includes('clumsy'));
sees('A message that a processor breaks in place is left out without a word, or fails the run without a word of the processor.');
