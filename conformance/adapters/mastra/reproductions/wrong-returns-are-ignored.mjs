import assert from 'node:assert/strict';
import { agentWith, say, scripted, sees } from './support/scripted.mjs';

const asked = async hooks => {
  const model = scripted(say('hello'));
  const agent = agentWith({ model, inputProcessors: [{ id: 'redacts', ...hooks }] });
  const { text } = await agent.generate('my PIN is 1234');
  assert.equal(text, 'hello');
  assert.match(JSON.stringify(model.calls[0]), /1234/);
};

await asked({ processInputStep: () => 'my PIN is ****' });
await asked({ processInputStep: () => 42 });
await asked({ processInput: () => ({ mesages: [] }) });
sees('What a hook returns by mistake, a text or a misspelt member, is ignored: a guard looks as if it had worked.');
