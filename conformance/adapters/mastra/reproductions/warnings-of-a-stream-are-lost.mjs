import assert from 'node:assert/strict';
import { agentWith, readAll, say, scripted, sees } from './support/scripted.mjs';

const warnings = [{ type: 'unsupported-setting', setting: 'seed' }];
const model = scripted([{ type: 'stream-start', warnings }, ...say('hello')]);
const got = [];
const log = { id: 'log', processLLMResponse: args => void got.push(args.warnings) };
await readAll(await agentWith({ model, inputProcessors: [log] }).stream('hi'));

assert.deepEqual(got, [undefined]);
sees('In stream() processLLMResponse gets no warnings, whatever the provider warned of.');
