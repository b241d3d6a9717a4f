import assert from 'node:assert/strict';
import { agentWith, message, say, sees, textOf } from './support/scripted.mjs';

const seen = [];
const agent = agentWith({
  turns: [say('hello')],
  outputProcessors: [
    { id: 'corrects', processOutputResult: ({ messages }) => [message('u1', 'corrected'), ...messages] },
    { id: 'looks', processOutputResult: ({ messageList }) => void seen.push(...messageList.get.all.db().map(textOf)) },
  ],
});
await agent.generate([message('u1', 'the question')]);

assert.deepEqual(seen, ['hello', 'corrected']);
sees('A question that processOutputResult corrects stands behind its answer from then on.');
