import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

let missing;
const looks = {
  id: 'looks',
  processOutputResult({ messageList: { get: { response, all } } }) {
    missing = ['db', 'ui', 'core'].filter(format => !response[format]);
    assert.ok(all.ui && all.core);
  },
};
await agentWith({ outputProcessors: [looks] }).generate('hi');

assert.deepEqual(missing, ['ui', 'core']);
sees('The view of the response has none of the formats ui and core, which the other views have.');
