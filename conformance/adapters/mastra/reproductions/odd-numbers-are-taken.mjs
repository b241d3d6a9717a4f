import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

for (const maxProcessorRetries of [-1, 1.5, 'two']) {
  const { text } = await agentWith({ maxProcessorRetries }).generate('hi', { maxSteps: 1.5 });
  assert.equal(text, 'hello');
}
sees('A limit of -1, of a step and a half or of a text is taken as it is.');
