// The values of Protocol 1 for an adapter written in JavaScript: what JSON cannot hold, live objects by token,
// templates made real, operations on the arguments of a call.
// In: objects of the implementation and templates of the runner. Out: the one as the other.

const tokens = new WeakMap();
const objects = new Map();
let made = 0;

function remember(object, token) {
  tokens.set(object, token);
  objects.set(token, object);
  return object;
}

// The token of a live object: the same one however often the object is met.
export const token = object => tokens.get(object) ?? tokens.get(remember(object, `o${++made}`));

// Lets go of every object that a token kept alive.
export const forget = () => objects.clear();

// The named members of an object that are there.
export function pick(names, from, as = value => value) {
  return Object.fromEntries(names.filter(name => from[name] !== undefined).map(name => [name, as(from[name], name)]));
}

export function encode(value, within = []) {
  if (value === undefined) return { $undefined: true };
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) };
  if (typeof value === 'function') return { $function: value.name };
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return { $date: value.toISOString() };
  if (value instanceof URL) return value.href;
  if (value instanceof Error) return { $error: encodeError(value) };
  if (within.includes(value)) return { $circular: true };
  const inside = [...within, value];
  if (Array.isArray(value)) return value.map(item => encode(item, inside));
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) return { $object: token(value) };
  const plain = pick(Object.keys(value), value, member => encode(member, inside));
  return Object.keys(plain).some(key => key.startsWith('$')) ? { $literal: plain } : plain;
}

function encodeError(error) {
  const details = pick(['statusCode', 'url', 'responseBody', 'isRetryable'], error);
  return { ...causes(error)[0], token: token(error), ...details };
}

// What was raised, and what caused it, and so on: each with its token where the runner knows one.
export function causes(error) {
  if (error === undefined || error === null) return [];
  const { name = 'Error', constructor, message = String(error) } = error;
  const named = name === 'Error' && error instanceof Error ? constructor.name : name;
  return [{ name: named.replace(/^AI_/, ''), message, token: tokens.get(error) }, ...causes(error.cause)];
}

// How the implementation makes its own errors, by the names the protocol has for them.
export const errorMakers = {};

export function makeError({ token, ...description }) {
  const { name, message, ...details } = description;
  const error = errorMakers[name]?.(description) ?? Object.assign(new Error(message), details, name && { name });
  return token ? remember(error, token) : error;
}

const walk = (object, keys) => keys.reduce((owner, key) => owner[key], object);
const decodeMembers = (members, args) => pick(Object.keys(members), members, member => decode(member, args));

// What becomes of each tag: functions of what stands under it, the call's arguments and the whole template.
export const templates = {
  $undefined: () => undefined,
  $date: text => new Date(text),
  $bigint: text => BigInt(text),
  $number: Number,
  $circular: () => { const value = {}; value.self = value; return value; },
  $function: name => ({ [name]: () => undefined })[name],
  $error: description => makeError(description),
  $literal: decodeMembers,
  $token: token => objects.get(token),
  $object: token => objects.get(token),
  $ref: (path, args) => walk(args, path.split('/')),
  $spread: (base, args, { with: members = {} }) => ({ ...decode(base, args), ...decodeMembers(members, args) }),
  $abort: ({ reason, ...options }, args) => args.abort(reason, decodeMembers(options, args)),
  $throw: description => { throw makeError(description); },
};

export function decode(value, args = {}) {
  if (Array.isArray(value)) return value.map(item => decode(item, args));
  if (value === null || typeof value !== 'object') return value;
  const tag = Object.keys(value).find(key => Object.hasOwn(templates, key));
  return tag ? templates[tag](value[tag], args, value) : decodeMembers(value, args);
}

function methodOf(receiver, path) {
  const names = path.split('.');
  const owner = names.slice(0, -1).reduce((object, name) => object?.[name], receiver);
  const found = owner?.[names.at(-1)];
  if (found === undefined) throw Object.assign(new Error(`there is no ${path} here`), { name: 'NoSuchMethod' });
  return typeof found === 'function' ? found.bind(owner) : () => found;
}

function locate(args, path) {
  const keys = path.split('/');
  return [walk(args, keys.slice(0, -1)), keys.at(-1)];
}

const operations = {
  read: (args, { at }) => walk(args, at.split('/')),
  token: (args, { at }) => token(walk(args, at.split('/'))),
  set(args, { at, value }) {
    const [owner, key] = locate(args, at);
    owner[key] = decode(value, args);
  },
  append(args, { at, value }) {
    walk(args, at.split('/')).push(decode(value, args));
  },
  remove(args, { at }) {
    const [owner, key] = locate(args, at);
    if (Array.isArray(owner)) owner.splice(key, 1);
    else delete owner[key];
  },
  call: (args, { on, method, args: values = [] }) => methodOf(args[on], method)(...decode(values, args)),
  abort: (args, { op, ...abort }) => templates.$abort(abort, args),
};

// Does one operation on the arguments of a call, open or past; what it raises is its answer.
export async function operate(args, operation) {
  try {
    return { value: encode(await operations[operation.op](args, operation)) };
  } catch (error) {
    return { error: causes(error)[0] };
  }
}
