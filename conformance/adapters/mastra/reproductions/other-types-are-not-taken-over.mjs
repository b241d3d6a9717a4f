import assert from 'node:assert/strict';
import { agentWith, say, sees } from './support/scripted.mjs';

const note = ({ part }) => (part.type === 'text-delta' ? { type: 'data-note', data: 'left out' } : part);
const agent = agentWith({ turns: [say('secret')], outputProcessors: [{ id: 'notes', processOutputStream: note }] });
const { response } = await agent.generate('hi');

assert.deepEqual(response.dbMessages.flatMap(({ content }) => content.parts).filter(({ type }) => type === 'data-note'), []);
sees('Data that a processor returns in place of a text, or a text in place of another chunk, is shown and not kept.');
