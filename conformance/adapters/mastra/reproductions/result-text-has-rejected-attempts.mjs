import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const results = [];
let rejected = false;
const agent = agentWith({
  turns: [say('bad'), say('good')],
  maxProcessorRetries: 1,
  outputProcessors: [{
    id: 'guard',
    processOutputStep({ abort }) {
      if (rejected) return;
      rejected = true;
      abort('again', { retry: true });
    },
    processOutputResult: ({ result }) => void results.push(result.text),
  }],
});
const { text } = await agent.generate('hi');

assert.deepEqual([text, results], ['good', ['badgood']]);
sees('In processOutputResult the text of the result begins with the attempts that were rejected.');
