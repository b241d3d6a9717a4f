// The bridge: lets the runner of Protocol 1 drive the framework. It knows no scenario and decides nothing.
// In: an agent as data, and calls of it. Out: what the framework calls, with what, and what its user gets.
import { readFileSync } from 'node:fs';
import { ask, currentRun, serve, tell } from '../javascript/wire.mjs';
import { consult as askRunner, forgetCalls, freshName, makeProcessor } from '../javascript/calls.mjs';
import { operateOnCall, viewOf } from '../javascript/calls.mjs';
import { drain, read, settled } from '../javascript/streams.mjs';
import { provided } from '../javascript/parts.mjs';
import { causes, decode, encode, errorMakers, makeError, pick, templates } from '../javascript/values.mjs';
import { builtIns } from './built-ins.mjs';
import { Agent, MessageList, TripWire } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { InMemoryStore } from '@mastra/core/storage';
import { Memory } from '@mastra/memory';

const { version } = JSON.parse(readFileSync(new URL('node_modules/@mastra/core/package.json', import.meta.url)));
const capabilities = ['generate', 'stream', 'pull', 'close', 'cancel', 'pulled-model', 'concurrent-runs', 'memory',
  'scripted-store', 'call-overrides', 'prepare-step', 'stop-when', 'on-violation', 'function-arrays', 'parallel-tools',
  'data-chunks', 'error-processors', 'context-messages', 'model-retries', 'settings', 'odd-values',
  'objects', 'gathered', ...Object.keys(builtIns)];
const promised = ['text', 'finishReason', 'totalUsage', 'steps', 'response', 'reasoningText', 'sources', 'files',
  'toolResults'];
const chains = ['inputProcessors', 'outputProcessors', 'errorProcessors'];
const [sessions, runs, models, tools] = Array.from({ length: 4 }, () => new Map());
const settings = ['toolChoice', 'activeTools', 'providerOptions', 'modelSettings', 'structuredOutput'];
const spelt = setting => (setting?.fallbackValue === undefined ? setting : { errorStrategy: 'fallback', ...setting });

templates.$model = id => models.get(id) ?? makeModel(id);
templates.$tool = name => tools.get(name);
templates.$list = (messages, args) => new MessageList({}).add(decode(messages, args), 'input');
errorMakers.TripWire = ({ message, processorId, ...options }) =>
  new TripWire(message, pick(['retry', 'metadata'], options), processorId);

// ---- What the framework hands over, by the contract's names and in its shapes

function call({ payload, ...entry }) {
  const { toolCallId, toolName, input, args = input, output, result = output?.value } = payload ?? entry;
  return encode({ toolCallId, toolName, args, result });
}

function step({ text, toolCalls = [], toolResults = [], finishReason, usage, reasoningText, sources, files }) {
  const payloads = chunks => (chunks?.length ? chunks.map(({ payload }) => payload) : undefined);
  const said = { text, finishReason, usage, sources: payloads(sources), files: payloads(files) };
  const called = { toolCalls: toolCalls.map(call), toolResults: toolResults.map(call) };
  return { ...encode({ ...said, reasoning: reasoningText || undefined }), ...called };
}

function chunk(value) {
  if (typeof value?.type !== 'string') return { type: 'no chunk', value: encode(value) };
  const { payload, ...rest } = value;
  if (!payload?.stepResult) return encode({ ...rest, payload });
  const { finishReason = payload.stepResult.reason, usage = payload.output?.usage } = payload;
  return encode({ ...rest, payload: { finishReason, usage } });
}

// The other way: a finish chunk in the contract's shape gets the framework's.
function native({ payload, ...rest }) {
  if (rest.type !== 'finish' || payload.stepResult) return { ...rest, payload };
  const { finishReason: reason, usage } = payload;
  return { ...rest, payload: { ...payload, stepResult: { reason }, output: { usage } } };
}

const view = args => viewOf(args, {
  model: ({ provider, modelId }) => ({ id: `${provider}/${modelId}` }),
  steps: steps => steps.map(step),
  part: chunk,
  streamParts: parts => parts.map(chunk),
  chunks: chunks => chunks.map(chunk),
  result: (result, { toolName }) => (toolName ? encode(result) : { ...encode(result), steps: result.steps.map(step) }),
});

// ---- What the runner plays: processors, tools, callbacks, the model

// What the runner returns, where it stands for something of the framework's: chunks to replay.
async function consult(...call) {
  const returned = await askRunner(...call);
  const chunks = returned?.response?.chunks?.map(native);
  return chunks ? { ...returned, response: { ...returned.response, chunks } } : returned;
}

// Asks about a call of a hook or a callback, whose arguments are shown by the contract's names.
const called = (method, params, args, owner) => consult(method, { ...params, arguments: view(args) }, args, owner);
const callback = callback => args => called('callback/call', { callback }, args);

function makeTool({ name, description = name, parameters, execute, ...odd }) {
  if ('$value' in odd) return odd.$value;
  const inputSchema = parameters ?? {};
  function run(args, { agent, writer, abortSignal, requestContext }) {
    const params = { tool: name, toolCallId: agent.toolCallId, args: encode(args) };
    return consult('tool/call', params, { args, writer, abortSignal, requestContext });
  }
  return createTool({ id: name, description, inputSchema, ...(execute !== false && { execute: execute?.$value ?? run }) });
}

function makeModel(id) {
  async function request(mode, options) {
    const { prompt, tools = [], toolChoice, responseFormat, providerOptions, abortSignal, ...rest } = options;
    const { includeRawChunks, headers, ...settings } = rest;
    const asked = { run: currentRun.getStore(), call: freshName('m') };
    let open = true;
    const end = () => { open = false; };
    const stop = () => { if (open) tell('model/aborted', asked); open = false; };
    abortSignal?.addEventListener('abort', stop);
    const answer = await ask('model/call', {
      ...asked, model: id, mode, tools: tools.map(tool => tool.name), signal: Boolean(abortSignal),
      toolChoice: toolChoice?.toolName ? toolChoice : toolChoice?.type,
      structuredOutput: responseFormat?.schema && pick(['schema'], responseFormat),
      ...encode({ prompt, settings, providerOptions }),
    });
    if (!answer.pull) end();
    if (answer.error) throw makeError(answer.error);
    return { ...answer, asked, end, stop };
  }

  async function doGenerate(options) {
    const { content, rawResponse: response, asked, end, stop, ...answer } = await request('generate', options);
    return { warnings: [], ...answer, response, content: content.map(provided) };
  }

  async function doStream(options) {
    const { pull, parts, asked, end, stop, warnings, ...answer } = await request('stream', options);
    const start = controller => warnings && controller.enqueue({ type: 'stream-start', warnings });
    async function next(controller) {
      const { part, error } = pull ? await ask('model/next', asked) : { part: parts.shift() };
      if (part) return controller.enqueue(provided(part));
      end();
      return error ? controller.error(makeError(error)) : controller.close();
    }
    const stream = new ReadableStream({ start, pull: next, cancel: stop }, { highWaterMark: 0 });
    return { stream, request: answer.request, response: answer.rawResponse };
  }

  const [provider, modelId] = id.split('/');
  return { specificationVersion: 'v2', provider, modelId, supportedUrls: { '*/*': [/./] }, doGenerate, doStream };
}

// ---- Memory: the framework's own, on its in-memory store, with the runner asked before the store acts

async function openMemory({ stored = [], ...options }) {
  const storage = new InMemoryStore();
  const store = await storage.getStore('memory');
  const now = new Date();
  for (const { thread, resource, messages } of stored) {
    await store.saveThread({ thread: { id: thread, resourceId: resource, title: '', createdAt: now, updatedAt: now } });
    const owner = { threadId: thread, resourceId: resource, createdAt: now };
    await store.saveMessages({ messages: decode(messages).map(message => ({ ...owner, ...message })) });
  }
  function guard(name, method) {
    const act = store[name].bind(store);
    store[name] = async request => {
      const { threadId: thread, resourceId: resource } = request.messages?.[0] ?? request;
      const { error } = await ask(method, { thread, resource, ...encode(pick(['messages'], request)) });
      if (error) throw makeError(error);
      return act(request);
    };
    return act;
  }
  guard('saveMessages', 'store/write');
  const list = guard('listMessages', 'store/read');
  const everything = { page: 0, perPage: false, orderBy: { field: 'createdAt', direction: 'ASC' } };
  const read = (threadId, resourceId) => list({ threadId, resourceId, ...everything }).then(view);
  return { memory: new Memory({ storage, options }), read, options };
}

// ---- Calls, as a user makes them

function callOptions(given, chain, remember, controller) {
  const { memory, requestContext, signal, callbacks = [], others, ...options } = given;
  return {
    ...decode({ ...options, ...pick(settings, options, spelt), ...others }),
    ...pick(chains, options, chain),
    ...(memory && { memory: { ...memory, options: remember } }), // read-only is an option of a call
    ...(requestContext && { requestContext: new RequestContext(Object.entries(decode(requestContext))) }),
    ...(signal && { abortSignal: controller.signal }),
    ...Object.fromEntries(callbacks.map(name => [name, callback(name)])),
  };
}

// What `generate` returned or, with promises under the same names, a stream.
async function outcomeOf(result) {
  const asked = settled(result, ['object', 'usedFallbackValue']).then(
    ({ object, usedFallbackValue }) => ({ object, usedFallback: usedFallbackValue || undefined }),
    error => ({ objectError: causes(error)[0] }),
  );
  const { totalUsage: usage, steps, response, ...told } = await settled(result, promised);
  const { text, finishReason, toolCalls, ...gathered } = step(told);
  const { tripwire, error } = result;
  const said = encode({ text, finishReason, usage, tripwire, messages: response?.dbMessages, ...(await asked) });
  return { outcome: { ...said, ...gathered, steps: steps.map(step), error: causes(error)[0] } };
}

const raised = at => error => ({ outcome: { raised: causes(error), at } });

serve({
  initialize({ protocols }) {
    if (!protocols.includes(1)) throw new Error('this adapter speaks protocol 1');
    return { protocol: 1, implementation: { name: 'mastra', version }, revisions: ['nine-hook'], capabilities };
  },
  async 'session/open'({ session, agent: { models: ids = ['mock/one'], memory: remembers, ...given } }) {
    const processors = new Map(given.processors?.map(each => [each.key, makeProcessor(each, called, builtIns)]));
    function chain(keys) {
      if (Array.isArray(keys)) return keys.map(key => processors.get(key) ?? key.$value);
      return keys?.$callback ? async args => chain(await callback(keys.$callback)(args)) : keys?.$value;
    }
    for (const id of ids) models.set(id, makeModel(id));
    const { memory, read: stored, options: remember } = remembers ? await openMemory(remembers) : {};
    let agent;
    function madeAgent() { // for the first run, so that a refusal is that run's outcome
      for (const tool of [...(given.tools ?? []), ...(given.otherTools ?? [])]) tools.set(tool.name, makeTool(tool));
      return new Agent({
        id: 'agent', name: 'agent', model: models.get(ids[0]), memory,
        instructions: given.instructions?.$value ?? given.instructions ?? '',
        tools: Object.fromEntries((given.tools ?? []).map(({ name }) => [name, tools.get(name)])),
        ...pick(chains, given, chain),
        ...pick(['maxProcessorRetries', 'maxRetries'], given),
        defaultOptions: pick(['maxSteps', ...settings], given, spelt),
      });
    }
    sessions.set(session, { agentOf: () => (agent ??= madeAgent()), chain, stored, remember });
  },
  'session/close'({ session }) {
    sessions.delete(session);
    if (sessions.size) return;
    runs.clear();
    forgetCalls();
  },
  'run/start'({ session, run, mode, input, reading, options = {} }) {
    const { agentOf, chain, remember } = sessions.get(session);
    const open = runs.set(run, { controller: new AbortController() }).get(run);
    if (options.signal === 'fired') open.controller.abort();
    async function start() {
      const agent = agentOf();
      const settings = callOptions(options, chain, remember, open.controller);
      if (mode === 'generate') return outcomeOf(await agent.generate(decode(input), settings));
      open.stream = await agent.stream(decode(input), settings);
      open.reader = open.stream.fullStream.getReader();
      if (reading === 'pull') return { opened: true };
      return drain(open.reader, chunk).then(() => outcomeOf(open.stream)).catch(raised('result'));
    }
    return start().catch(raised('start'));
  },
  'run/read': ({ run, count }) => read(runs.get(run).reader, count, chunk),
  'run/result': ({ run }) => outcomeOf(runs.get(run).stream).catch(raised('result')),
  'run/close': ({ run }) => void runs.get(run).reader?.cancel().catch(() => {}),
  'run/cancel': ({ run, reason }) => runs.get(run).controller.abort(reason),
  'object/do': operateOnCall,
  'storage/read': ({ session, thread, resource }) => sessions.get(session).stored(thread, resource),
});
