import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const structuredOutput = { schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } };
function processOutputResult({ messages }) {
  for (const part of messages.at(-1).content.parts) if (part.type === 'text') part.text = '{"word":"***"}';
  return messages;
}
const agent = agentWith({ turns: [say('{"word":"secret"}')], outputProcessors: [{ id: 'filter', processOutputResult }] });
const { object, text } = await agent.generate('hi', { structuredOutput });

assert.deepEqual([text, object], ['{"word":"***"}', { word: 'secret' }]);
sees('The object that an answer is has what processors took out of the answer.');
