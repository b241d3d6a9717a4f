import assert from 'node:assert/strict';
import { agentWith, callTool, lookup, say, sees } from './support/scripted.mjs';

for (const mode of ['generate', 'stream']) {
  const executed = [];
  const blocks = {
    id: 'blocks',
    processOutputStep: ({ messages }) => void messages.forEach(({ content }) => {
      content.parts = content.parts.filter(part => part.type !== 'tool-invocation');
    }),
  };
  const turns = [callTool('c1'), say('done')];
  const tools = lookup(async args => executed.push(args));
  const agent = agentWith({ turns, tools, outputProcessors: [blocks] });
  await (mode === 'generate' ? agent.generate('hi') : (await agent.stream('hi')).getFullOutput());

  assert.deepEqual(executed, [{ id: 1 }]);
}
sees('A tool call that a processor has taken out of the answer in processOutputStep is executed all the same.');
