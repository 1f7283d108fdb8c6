// node bench/tokens/fetch.mjs [NAME=GIT_DIRECTORY …]: makes the sets of real outputs from clones of their repositories.
//
// Nothing of them is committed. Without arguments the script lists the sets, and how to get each.
import { CACHE, FETCHED, load, make } from './sets/index.mjs';

const wanted = process.argv.slice(2).map((arg) => arg.split('='));
for (const [name, directory] of wanted) {
  if (!(name in FETCHED) || !directory) {
    throw new Error(`${name}: give NAME=GIT_DIRECTORY with one of ${Object.keys(FETCHED).join(', ')}`);
  }
  const { commit, count } = make(name, directory);
  console.log(`${name}: ${count} outputs from ${FETCHED[name].repository} at ${commit}`);
}
const { missing } = load();
console.log(`\nSets are kept in ${CACHE}`);
for (const name of missing) {
  const { repository, licence, what } = FETCHED[name];
  console.log(`missing: ${name} (${what}, ${licence}): git clone --bare https://github.com/${repository} DIRECTORY,`);
  console.log(`  then node bench/tokens/fetch.mjs ${name}=DIRECTORY`);
}
