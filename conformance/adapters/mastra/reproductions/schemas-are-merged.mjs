import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const asked = [];
const model = scripted(say('{}'));
const doGenerate = options => asked.push(options.responseFormat.schema) && model.doGenerate(options);
const schema = name => ({ type: 'object', properties: { [name]: { type: 'number' } } });
const defaultOptions = { structuredOutput: { schema: schema('mine') } };
await agentWith({ model: { ...model, doGenerate }, defaultOptions }).generate('hi', {
  structuredOutput: { schema: schema('yours') },
});

assert.deepEqual(Object.keys(asked[0].properties).sort(), ['mine', 'yours']);
sees('The schema that a call brings is mixed with the one of the agent.');
