import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const model = scripted(say('hello'));
const renames = {
  id: 'renames',
  processInputStep({ messages, messageList }) {
    for (const { content } of messages) {
      for (const part of content.parts) if (part.type === 'reasoning') part.type = 'thinking';
    }
    return messageList;
  },
};
const parts = [{ type: 'reasoning', reasoning: 'think', details: [] }, { type: 'text', text: 'answered' }];
await agentWith({ model, inputProcessors: [renames] }).generate([
  { id: 'q', role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'before' }] } },
  { id: 'a', role: 'assistant', content: { format: 2, parts } },
  { id: 'u', role: 'user', content: { format: 2, parts: [{ type: 'text', text: 'hi' }] } },
]);

assert.deepEqual(model.calls[0][2].content.map(({ type }) => type), ['text']);
sees('Parts of an answer that a processor gives another type, as the documented example does, are not in the prompt.');
