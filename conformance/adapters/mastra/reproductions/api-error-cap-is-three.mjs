// No scenario yet.
import assert from 'node:assert/strict';
import { agentWith, scripted, sees } from './support/scripted.mjs';

const model = scripted(new Error('overloaded'));
const agent = agentWith({ model, errorProcessors: [{ id: 'mend', processAPIError: () => ({ retry: true }) }] });
await assert.rejects(agent.generate('hi'), /overloaded/);

assert.equal(model.calls.length, 4);
sees('Without a limit of their own, error processors get three retries, not the documented ten.');
