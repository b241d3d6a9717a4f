// Runs every reproduction, a line each, and fails if one of them fails: then the framework no longer behaves as the
// deviations file says. Fails too where that file names a reproduction that is not there.
import { readFileSync, readdirSync } from 'node:fs';

const folder = new URL('..', import.meta.url);
const deviations = new URL('../../../../fixtures/deviations/mastra.toml', folder);
const scripts = readdirSync(folder).filter(name => name.endsWith('.mjs')).sort();
const named = [...readFileSync(deviations, 'utf8').matchAll(/^reproduction = "(.+)"$/gm)].map(match => match[1]);
const failed = named.filter(name => !scripts.includes(name));
for (const name of failed) process.stdout.write(`${name}: FAILED there is no such file\n`);

process.on('unhandledRejection', () => {}); // what the framework leaves behind an ended call
for (const script of scripts) {
  process.stdout.write(`${script.replace('.mjs', '')}: `);
  try {
    await import(new URL(script, folder));
  } catch (error) {
    process.stdout.write(`FAILED ${error.message.replaceAll('\n', ' ')}\n`);
    failed.push(script);
  }
}
const passed = scripts.filter(name => !failed.includes(name)).length;
process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
process.exit(failed.length ? 1 : 0);
