import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const got = [];
const edits = {
  id: 'edits',
  processOutputResult({ result }) {
    result.text = 'made up';
    result.steps[0].text = 'made up';
  },
};
const reads = { id: 'reads', processOutputResult: ({ result }) => void got.push(result.text) };
const { steps } = await agentWith({ outputProcessors: [edits, reads] }).generate('hi');

assert.deepEqual([...got, steps[0].text], ['made up', 'made up']);
sees('What one processor does to result in processOutputResult the next one gets, and the caller.');
