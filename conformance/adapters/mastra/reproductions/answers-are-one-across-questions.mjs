import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, message, say, sees, textOf } from './support/scripted.mjs';

const seen = [];
const asks = {
  id: 'asks',
  processInputStep({ stepNumber, messageList }) {
    if (stepNumber === 1) messageList.add([message('u2', 'go on')], 'input');
  },
  processOutputResult: ({ messageList }) => void seen.push(...messageList.get.all.db().map(textOf)),
};
const turns = [[...say('one').slice(0, -1), ...callTool('c1')], say('two')];
await agentWith({ turns, tools: lookup(), inputProcessors: [asks], outputProcessors: [asks] }).generate('hi');

assert.deepEqual(seen, ['hi', 'one|tool-invocation|step-start|two', 'go on']);
sees('A question that comes between two steps stands behind the answer to it, which goes on with the answer before.');
