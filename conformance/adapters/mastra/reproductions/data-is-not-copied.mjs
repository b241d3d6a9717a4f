import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const note = { type: 'data-note', data: { count: 1, when: new Date(0) } };
const agent = agentWith({
  turns: [say('hello')],
  outputProcessors: [{
    id: 'sends',
    async processOutputStep({ writer, messages }) {
      await writer.custom(note);
      note.data.count = 2;
      return messages;
    },
  }],
});
const { response } = await agent.generate('hi');
const { data } = response.dbMessages.flatMap(({ content }) => content.parts).find(({ type }) => type === 'data-note');

assert.deepEqual([data.count, data.when instanceof Date], [2, true]);
sees('Data stays the object of its sender: the message has what is changed in it later, and what no store can hold.');
