import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
function redact({ messages }) {
  const [message] = messages;
  return { messages: [{ ...message, content: { format: 2, parts: [{ type: 'text', text: 'my PIN is ****' }] } }] };
}
await agentWith({ model, inputProcessors: [{ id: 'redacts', processInput: redact }] }).generate('my PIN is 1234');

assert.match(JSON.stringify(model.calls[0]), /1234/);
sees('processInput may return {messages, systemMessages}; {messages} alone is ignored without a word.');
