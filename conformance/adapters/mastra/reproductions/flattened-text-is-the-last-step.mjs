import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, remembering, say, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const withText = [...say('one').slice(0, -1), ...callTool('c1')];
await agentWith({ memory, tools: lookup(), turns: [withText, say('two')] }).generate('hi', thread);

const answer = (await stored())[1];
assert.match(textOf(answer), /^one\|.*\|two$/);
assert.equal(answer.content.content, 'two');
sees('The flattened text of a stored answer (its content.content) is that of its last step only.');
