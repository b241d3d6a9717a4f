// The processors that the framework brings ready-made, by the protocol's names.
// In: an entry of `session/open`. Out: the framework's object, made as its users make it.
import { InMemoryServerCache } from '@mastra/core/cache';
import { PrefillErrorHandler, ResponseCache } from '@mastra/core/processors';

const raises = async () => { throw new Error('the cache is down'); };
const backends = {
  failing: { get: raises, set: raises },
  garbled: { get: async () => 'garbled', set: async () => {} },
};

export const builtIns = {
  'prefill-error-handler': () => new PrefillErrorHandler(),
  'response-cache': ({ backend }) => new ResponseCache({ cache: backends[backend] ?? new InMemoryServerCache() }),
};
