// Runs every reproduction, a line each, and fails if one of them fails: then the framework no longer behaves as the
// deviations file says. Also fails where the causes in the deviations file and the scripts are not the same.
import { readFileSync, readdirSync } from 'node:fs';

const folder = new URL('..', import.meta.url);
const scripts = readdirSync(folder).filter(name => name.endsWith('.mjs')).sort();
const deviations = new URL('../../../../../fixtures/deviations/mastra.toml', import.meta.url);
const named = [...readFileSync(deviations, 'utf8').matchAll(/^reproduction = "(.+)"$/gm)].map(match => match[1]).sort();
const failures = [];

process.on('unhandledRejection', () => {}); // what the framework leaves behind an ended call
for (const script of scripts) {
  process.stdout.write(`${script.replace('.mjs', '')}: `);
  try {
    await import(new URL(script, folder));
  } catch (error) {
    process.stdout.write(`FAILED ${error.message.split('\n')[0]}\n`);
    failures.push(script);
  }
}
for (const name of scripts.filter(each => !named.includes(each))) failures.push(`${name} has no cause in the deviations file`);
for (const name of named.filter(each => !scripts.includes(each))) failures.push(`${name} does not exist`);
process.stdout.write(`${scripts.length - failures.length} passed, ${failures.length} failed\n`);
for (const failure of failures) process.stdout.write(`  ${failure}\n`);
process.exit(failures.length ? 1 : 0);
