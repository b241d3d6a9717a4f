import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, remembering, say, sees, textOf, thread } from './support/scripted.mjs';

async function answered(first, second, outputProcessors) {
  const { memory, stored } = await remembering();
  const turns = [[...say(first).slice(0, -1), ...callTool('c1')], say(second)];
  await agentWith({ memory, turns, tools: lookup(), outputProcessors }).generate('hi', thread);
  return textOf((await stored())[1]).split('|');
}

const texts = await answered('same', 'same');
assert.deepEqual(texts.filter(each => each === 'same'), ['same']);

const notes = { id: 'notes', processOutputStep: ({ writer }) => writer.custom({ type: 'data-note', data: { n: 1 } }) };
const noted = await answered('one', 'two', [notes]);
assert.deepEqual(noted.filter(each => ['one', 'two', 'data-note'].includes(each)), ['one', 'data-note', 'two']);
sees('A text or a data note that repeats an earlier one of the same answer is not stored.');
