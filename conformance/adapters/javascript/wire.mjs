// The wire of Protocol 1 for an adapter written in JavaScript: JSON-RPC 2.0, one message a line, both directions.
// In: the methods the adapter serves. Out: `ask` and `tell`, whose messages name the run they belong to.
import { AsyncLocalStorage } from 'node:async_hooks';

const write = process.stdout.write.bind(process.stdout);
// Standard output is the protocol's alone: whatever else is printed goes to standard error.
process.stdout.write = process.stderr.write.bind(process.stderr);
process.on('unhandledRejection', error => console.error('unhandled rejection:', error));

export const currentRun = new AsyncLocalStorage();
const waiting = new Map();
let asked = 0;

const send = message => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

// A notification to the runner.
export function tell(method, params, id) {
  send({ id, method, params: { run: currentRun.getStore(), ...params } });
}

// A request to the runner; resolves to its result.
export async function ask(method, params) {
  const id = `a${++asked}`;
  tell(method, params, id);
  const { result, error } = await new Promise(resolve => waiting.set(id, resolve));
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

// What every adapter in JavaScript answers alike. A tick lets callbacks, timers and microtasks that are due run.
const common = {
  async tick() {
    await new Promise(resolve => setImmediate(resolve));
    await new Promise(resolve => setTimeout(resolve, 4));
  },
  shutdown() {
    setImmediate(() => process.exit(0));
  },
};

// Serves `own` methods, each a function of its params (nothing returned: `{}`), until standard input ends. Nothing
// here waits for an answer before it reads on, so that requests may nest to any depth.
export function serve(own) {
  const methods = { ...common, ...own };

  async function answer({ id, method, params = {} }) {
    try {
      if (!Object.hasOwn(methods, method)) throw new Error(`this adapter has no method ${method}`);
      send({ id, result: (await currentRun.run(params.run, methods[method], params)) ?? {} });
    } catch (error) {
      console.error(error);
      send({ id, error: { code: -32000, message: String(error?.message ?? error) } });
    }
  }

  function receive(line) {
    const message = JSON.parse(line);
    if (message.method) return void answer(message);
    waiting.get(message.id)(message);
    waiting.delete(message.id);
  }

  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('end', () => process.exit(0));
  process.stdin.on('data', text => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    lines.forEach(receive);
  });
}
