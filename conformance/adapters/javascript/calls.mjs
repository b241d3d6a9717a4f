// The calls an implementation makes to the runner's hooks, tools and callbacks, for an adapter written in JavaScript.
// In: the arguments of each call, live. Out: what the runner returned, made real; and operations on those arguments,
// while the call is open and after it.
import { ask, currentRun } from './wire.mjs';
import { decode, encode, forget, operate, pick, token } from './values.mjs';

const data = ['messages', 'systemMessages', 'state', 'stepNumber', 'steps', 'model', 'tools', 'toolChoice',
  'activeTools', 'providerOptions', 'modelSettings', 'structuredOutput', 'prompt', 'chunks', 'warnings', 'request',
  'rawResponse', 'fromCache', 'part', 'streamParts', 'finishReason', 'providerMetadata', 'toolCalls', 'text', 'usage',
  'toolName', 'toolCallId', 'args', 'result', 'providerExecuted', 'error', 'retryCount', 'violation'];
const withBehaviour = ['messageList', 'writer', 'abort', 'abortSignal', 'requestContext', 'tracingContext'];
const tokened = ['state', 'messageList', 'requestContext', 'abortSignal', 'writer', 'error'];
const calls = new Map();
let made = 0;

// A name that was not used before.
export const freshName = prefix => `${prefix}${++made}`;

// The contract's arguments that are there, as they stand now; `views` says how the ones look that differ in shape.
export function viewOf(args, views) {
  const plain = pick(data, args, (value, name) => (views[name] ? views[name](value, args) : encode(value)));
  return { ...plain, ...pick(withBehaviour, args, value => ({ $object: token(value) })) };
}

// Asks the runner what a hook, a tool or a callback does, and does it. `instance` is the processor that is called.
export async function consult(method, params, args, instance) {
  const handle = freshName('h');
  calls.set(handle, { args, run: currentRun.getStore() });
  const tokens = { ...pick(tokened, args, token), ...(instance && { instance: token(instance) }) };
  const answer = await ask(method, { handle, ...params, tokens });
  return decode(answer.return, args);
}

// A processor as `session/open` describes it, with the hooks and other methods that it lists; `called` asks the runner
// what one of them does. `builtIns` makes those that the implementation brings itself, by name.
export function makeProcessor(described, called, builtIns = {}) {
  const { key, builtIn, id, hooks, onViolation, methods = [], asynchronous, values, ...properties } = described;
  if (builtIn) return builtIns[builtIn](described);
  const processor = { ...properties, ...values, ...(id !== null && { id }) };
  for (const name of methods) processor[name] = () => {};
  for (const hook of hooks) processor[hook] = args => called('hook/call', { processor: key, hook }, args, processor);
  const told = { processor: key, callback: 'onViolation' };
  if (onViolation) processor.onViolation = violation => called('callback/call', told, { violation });
  return processor;
}

// Answers `object/do`.
export async function operateOnCall({ handle, operations }) {
  if (!calls.has(handle)) throw new Error(`no call has the handle ${handle}`);
  const { args, run } = calls.get(handle);
  const results = [];
  for (const operation of operations) results.push(await currentRun.run(run, operate, args, operation));
  return { results };
}

// Lets go of all calls and of every object that a token kept alive.
export function forgetCalls() {
  calls.clear();
  forget();
}
