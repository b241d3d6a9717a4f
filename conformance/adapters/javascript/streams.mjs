// Reading a web stream, and what comes of it, as the protocol asks, for an adapter written in JavaScript.
// In: a reader of chunks, and how a chunk looks on the wire. Out: chunks, a few or all.
import { tell } from './wire.mjs';

// Up to `count` chunks; fewer only at the end, when `done` is true.
export async function read(reader, count, view) {
  const chunks = [];
  while (chunks.length < count) {
    const { done, value } = await reader.read();
    if (done) return { chunks, done };
    chunks.push(view(value));
  }
  return { chunks, done: false };
}

// The named members of what a call returned, each awaited where it is a promise.
export async function settled(result, names) {
  return Object.fromEntries(await Promise.all(names.map(async name => [name, await result[name]])));
}

// Reads to the end and tells the runner each chunk.
export async function drain(reader, view) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    tell('stream/chunk', { chunk: view(value) });
  }
}
