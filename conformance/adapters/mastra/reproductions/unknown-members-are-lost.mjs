// No scenario yet.
import assert from 'node:assert/strict';
import { agentWith, remembering, sees, thread } from './support/scripted.mjs';

const { memory, stored } = await remembering();
const where = { format: 2, pinned: true, parts: [{ type: 'text', text: 'where', weight: 2 }] };
await agentWith({ memory }).generate([{ id: 'u1', role: 'user', mood: 'glad', content: where }], thread);

const [{ mood, content }] = await stored();
assert.equal(mood, undefined);
assert.deepEqual([content.pinned, content.parts[0].weight], [true, 2]);
sees('Members of a message that the framework does not know are gone when it comes back from the store.');
