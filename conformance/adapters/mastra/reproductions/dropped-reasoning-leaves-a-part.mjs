import assert from 'node:assert/strict';
import { agentWith, finish, sees } from './support/scripted.mjs';

const reasoning = [
  { type: 'reasoning-start', id: 'r' },
  { type: 'reasoning-delta', id: 'r', delta: 'secret' },
  { type: 'reasoning-end', id: 'r' },
];
const text = ['text-start', 'text-delta', 'text-end'].map(type => ({ type, id: 't', delta: 'yes' }));
const filter = { id: 'filter', processOutputStream: ({ part }) => (part.type === 'reasoning-delta' ? null : part) };
const agent = agentWith({ turns: [[...reasoning, ...text, finish('stop')]], outputProcessors: [filter] });
const stream = await agent.stream('hi');
await stream.consumeStream();
const [{ content }] = (await stream.response).dbMessages;

assert.deepEqual(content.parts.map(({ type }) => type), ['reasoning', 'text']);
sees('A reasoning whose words were all dropped leaves a part in the message.');
