import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const structuredOutput = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const agent = agentWith({ turns: [say('{"n":"x"}')] });
const raised = await agent.generate('hi', { structuredOutput }).catch(error => error);
const stream = await agent.stream('hi', { structuredOutput });
await readAll(stream);

assert.ok(raised instanceof Error);
assert.equal(await stream.finishReason, 'error');
sees('An answer that is not the object asked for is lost in generate(), which raises, and ends a stream in an error.');
