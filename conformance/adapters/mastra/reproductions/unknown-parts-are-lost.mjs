import assert from 'node:assert/strict';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const agent = agentWith({ turns: [[{ type: 'annotation', note: 'new' }, ...say('hello')]] });
const chunks = await readAll(await agent.stream('hi'));

assert.ok(chunks.every(({ type }) => type !== 'annotation'));
sees('A chunk of a type that the framework does not know reaches neither processors nor client.');
