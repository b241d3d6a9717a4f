import assert from 'node:assert/strict';
import { agentWith, remembering, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
function redact({ messages }) {
  for (const { content } of messages) {
    for (const part of content.parts) part.text = part.text.replace('1234', '****');
  }
  return messages;
}
const redactor = { id: 'redacts', processInput: redact };
await agentWith({ memory, inputProcessors: [redactor] }).generate('my PIN is 1234', thread);

const [question] = await stored();
assert.equal(textOf(question), 'my PIN is ****');
assert.equal(question.content.content, 'my PIN is 1234');
sees("Words that a processor redacted in a message's parts are stored all the same: in its flattened content.content.");
