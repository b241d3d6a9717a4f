import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const asked = [];
const broken = { id: 'broken', processAPIError() { throw new Error('the recovery broke'); } };
const wrong = { id: 'wrong', processAPIError: () => 'retry' };
const last = { id: 'last', processAPIError: () => void asked.push('last') };
const agent = agentWith({ turns: [new Error('refused')], errorProcessors: [broken, wrong, last] });
const error = await agent.generate('hi').catch(error => error);

assert.deepEqual(asked, ['last']);
assert.deepEqual([error.message, error.cause], ['refused', undefined]);
sees('What processAPIError raises, or returns by mistake, is dropped: the next processor is asked and nobody is told.');
