import assert from 'node:assert/strict';
import { agentWith, message, remembering, sees, textOf, thread } from './support/scripted.mjs';

const sent = async (...messages) => {
  const { memory, stored } = await remembering();
  await agentWith({ memory }).generate([message('u1', 'hi'), ...messages], thread);
  return stored();
};
const nameless = { format: 2, parts: [{ type: 'tool-invocation', toolInvocation: {} }] };

assert.deepEqual((await sent({ id: 'u2', role: 'user', content: { format: 2 } })).map(textOf), ['hi', 'hello']);
assert.equal((await sent({ id: 'u2', role: 'user', content: nameless }))[1].content.parts[0].type, 'tool-invocation');
assert.ok((await sent(message(7, 'a number for an id'))).some(({ id }) => id === 7));
assert.ok((await sent(message('u2', 'half \ud83d'))).some(stored => textOf(stored) === 'half \ud83d'));
sees('What is no message, with a number for an id or half a character, is stored, or left out without a word.');
