import assert from 'node:assert/strict';
import { z } from 'zod';
import { agentWith, readAll, say, sees } from './support/scripted.mjs';

const agent = agentWith({ turns: [say('{"n":', '1}')] });
const chunks = await readAll(await agent.stream('hi', { structuredOutput: { schema: z.object({ n: z.number() }) } }));
const objects = chunks.filter(({ type }) => type === 'object');

assert.ok(objects.length && objects.every(chunk => !('payload' in chunk) && chunk.object));
sees('An asked-for object goes out in chunks that have no payload.');
