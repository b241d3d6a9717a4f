import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const stream = await agentWith({ turns: [say('hello').slice(0, -1)] }).stream('hi');
await stream.consumeStream();

assert.equal(await stream.finishReason, undefined);
sees('An answer that ends without a finish has no finish reason, and its run has none.');
