import assert from 'node:assert/strict';
import { agentWith, sees } from './support/scripted.mjs';

const got = [];
const log = { id: 'log', processLLMResponse: ({ request, rawResponse }) => void got.push(request, rawResponse) };
const agent = agentWith({ inputProcessors: [log] });
await agent.generate('hi');
await (await agent.stream('hi')).consumeStream();

assert.ok(got.length === 4 && got.every(each => typeof each === 'object'));
sees('Where the provider gave no request and no response, processLLMResponse gets empty objects for them.');
