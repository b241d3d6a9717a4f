// What a model says, in the form in which providers give it to programs in JavaScript (LanguageModelV2).
// In: a part of the protocol's stream, or an entry of its content. Out: the provider's.
import { decode, errorMakers, makeError } from './values.mjs';

// The arguments of a tool call, as they are being written.
const inputs = {
  'tool-call-input-streaming-start': ({ toolCallId, ...rest }) => ({ type: 'tool-input-start', id: toolCallId, ...rest }),
  'tool-call-delta': ({ toolCallId, argsTextDelta }) => ({ type: 'tool-input-delta', id: toolCallId, delta: argsTextDelta }),
  'tool-call-input-streaming-end': ({ toolCallId }) => ({ type: 'tool-input-end', id: toolCallId }),
};

errorMakers.APICallError = ({ message, ...details }) => Object.assign(new Error(message), details, {
  name: 'AI_APICallError', // with the marks by which every version of the providers' SDK knows one
  [Symbol.for('vercel.ai.error')]: true,
  [Symbol.for('vercel.ai.error.AI_APICallError')]: true,
});

export function provided(part) {
  const { type, payload, ...entry } = decode(part);
  if (inputs[type]) return inputs[type](payload);
  const { text, args, error, ...rest } = payload ?? entry;
  return {
    type,
    ...rest,
    ...(text !== undefined && { [payload ? 'delta' : 'text']: text }),
    ...(args !== undefined && { input: JSON.stringify(args) }),
    ...(error && { error: makeError(error) }),
  };
}
