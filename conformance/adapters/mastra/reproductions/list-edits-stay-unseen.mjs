import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const seen = [];
const texts = list => list.map(message => message.content.parts.map(part => part.text).join());
const agent = agentWith({
  inputProcessors: [
    {
      id: 'redacts',
      processInput({ messages, messageList }) {
        const [{ id, role, createdAt }] = messages;
        messageList.removeByIds([id]);
        const content = { format: 2, parts: [{ type: 'text', text: 'my PIN is ****' }] };
        messageList.add({ id, role, createdAt, content }, 'input');
      },
    },
    {
      id: 'looks',
      processInput: ({ messages, messageList }) => void seen.push(texts(messages), texts(messageList.get.all.db())),
    },
  ],
});
await agent.generate('my PIN is 1234');

assert.deepEqual(seen, [['my PIN is 1234'], ['my PIN is ****']]);
sees('A change made through the message list is not in the messages that the next processor gets.');
