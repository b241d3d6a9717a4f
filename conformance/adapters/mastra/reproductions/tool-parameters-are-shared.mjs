import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, scripted, sees } from './support/scripted.mjs';

const seen = [];
const edit = {
  id: 'edit',
  processInputStep({ tools }) {
    seen.push(tools.lookup.parameters.noted);
    tools.lookup.parameters.noted = 'here';
  },
};
const model = scripted(callTool('c1'), say('done'));
await agentWith({ model, tools: lookup(), inputProcessors: [edit] }).generate('hi');

assert.deepEqual(seen, [undefined, 'here']);
sees('What a processor edits in place in the parameters of a tool is there in later steps.');
