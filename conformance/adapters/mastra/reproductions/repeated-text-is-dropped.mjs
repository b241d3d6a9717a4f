import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, remembering, say, sees, textOf, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const same = say('same').slice(0, -1);
await agentWith({ memory, tools: lookup(), turns: [[...same, ...callTool('c1')], say('same')] }).generate('hi', thread);

assert.deepEqual(textOf((await stored())[1]).split('|').filter(each => each === 'same'), ['same']);
sees('A step that says what an earlier one said is stored without its text.');
