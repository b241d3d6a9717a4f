import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

function careful({ abort }) {
  try {
    abort('vile');
  } catch {
    // a guardrail's own error handling
  }
}
const guard = { id: 'guard', processOutputStep: careful };
const agent = agentWith({ turns: [say('something vile')], outputProcessors: [guard] });
const { text, tripwire } = await agent.generate('hi');

assert.deepEqual([text, tripwire], ['something vile', undefined]);
sees("A processor's own try and catch around abort() undoes the abort.");
