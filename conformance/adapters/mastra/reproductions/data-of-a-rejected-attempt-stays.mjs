import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const seen = [];
const note = writer => writer.custom({ type: 'data-note', data: { n: 1 } });
const agent = agentWith({
  turns: [new Error('overloaded'), say('good')],
  maxProcessorRetries: 1,
  inputProcessors: [{ id: 'witness', processInputStep: ({ messages }) => void seen.push(messages.length) }],
  errorProcessors: [{
    id: 'mend',
    async processAPIError({ writer }) {
      await note(writer);
      return { retry: true };
    },
  }],
});
const stream = await agent.stream('hi');
await stream.text;

assert.deepEqual(seen, [1, 2]);
sees('Data that was sent in an attempt which is repeated stays in the conversation, as an answer of its own.');
