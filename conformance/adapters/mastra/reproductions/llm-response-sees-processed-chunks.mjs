import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const texts = [];
const agent = agentWith({
  turns: [say('raw')],
  inputProcessors: [{
    id: 'cache',
    processLLMResponse: ({ chunks }) => void texts.push(chunks.find(({ type }) => type === 'text-delta').payload.text),
  }],
  outputProcessors: [{
    id: 'shout',
    processOutputStream: ({ part }) =>
      (part.type === 'text-delta' ? { ...part, payload: { ...part.payload, text: 'RAW!' } } : part),
  }],
});
await agent.generate('hi');

assert.deepEqual(texts, ['RAW!']);
sees('processLLMResponse gets the chunks as processOutputStream left them, not as the model sent them.');
