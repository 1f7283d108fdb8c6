/**
 * `npm run machines [-- NAME… [PART…]] [--json FILE]`: runs the project on each machine of machines.mjs, or on those
 * named, and prints a table machine × part. Words that name no machine name parts, or paths below `__test__`, such as
 * `confine/contract/git.test.ts`, which are not recorded. `--json` writes its rows, each
 * `{ machine, part, passed, failed, skipped, why, seconds }`. `--record` writes them into npm/machines.json, from which
 * `npm run platforms` makes docs/platforms.md, npm/levels.json and the packages' READMEs. `--list` lists the machines.
 *
 * All machines but the last two need root and Debian's `apt`. Downloads and systems are kept in
 * `~/.cache/agent-bash/machines`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { exclusively } from '../lock.mjs';
import { Failed, Missing, main, root, run, since } from '../process.mjs';
import { setUp } from '../setup.mjs';
import { record } from './levels.mjs';
import { MACHINES } from './machines.mjs';
import { table } from './parts.mjs';
import { cache } from './zig.mjs';

/** A row without a result of tests. */
const without = (part, why, state) => ({ part, passed: 0, failed: 0, skipped: 0, why: [why], seconds: 0, [state]: 1 });

/** Runs parts of a machine. One that cannot be had is a row of its own, skipped. Each part that has no row failed. */
async function rowsOf(name, asked) {
  const start = performance.now();
  const onLine = (line) => console.log(`${name.padEnd(10)} ${line}`);
  console.log(`\n=== ${name}: ${MACHINES[name].about}`);
  const rows = [];
  try {
    rows.push(...(await MACHINES[name].run(name, { parts: asked, onLine })));
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.log(`${error.output}${error.message}`);
    rows.push(
      ...(error.rows ?? []),
      without('machine', error.message, error instanceof Missing ? 'skipped' : 'failed'),
    );
  }
  if (!rows.some(({ part }) => part === 'machine')) {
    const lost = asked.filter((part) => !rows.some((row) => row.part === part));
    rows.push(...lost.map((part) => without(part, 'ended without a result', 'failed')));
  }
  console.log(`=== ${name}: ${since(start)}`);
  return rows.map((row) => ({ machine: name, ...row }));
}

/** Runs the machines, prints the table and writes the rows. */
async function all(named, words, values) {
  const rows = [];
  for (const name of named) {
    const { parts } = MACHINES[name];
    const asked = [...parts.filter((part) => words.includes(part)), ...words.filter((word) => word.includes('/'))];
    rows.push(...(await rowsOf(name, words.length > 0 ? asked : parts)));
    if (values.json) {
      mkdirSync(dirname(resolve(values.json)), { recursive: true });
      writeFileSync(resolve(values.json), `${JSON.stringify(rows, null, 2)}\n`);
    }
  }
  if (values.record) {
    record(
      rows.filter(({ part }) => !part.includes('/')),
      Object.keys(MACHINES),
    );
    await setUp();
    await run(process.execPath, [join(root, 'scripts', 'platforms.mjs')]);
  }
  console.log(`\n${table(rows)}`);
  if (rows.some(({ failed }) => failed > 0)) process.exitCode = 1;
}

await main(async () => {
  const options = { json: { type: 'string' }, record: { type: 'boolean' }, list: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.list) {
    for (const [name, { about, parts }] of Object.entries(MACHINES)) {
      console.log(`${name.padEnd(12)} ${about}: ${parts.join(', ')}`);
    }
    return;
  }
  const isMachine = (word) => Object.hasOwn(MACHINES, word);
  const [machines, parts] = [positionals.filter(isMachine), positionals.filter((word) => !isMachine(word))];
  const named = machines.length > 0 ? machines : Object.keys(MACHINES);
  const known = named.flatMap((name) => MACHINES[name].parts);
  const takesPaths = named.every((name) => MACHINES[name].takesPaths);
  for (const part of parts.filter((part) => !known.includes(part) && !(takesPaths && part.includes('/')))) {
    throw new Failed(
      `${part} is no machine, and no part of ${named.join(', ')}: these are ${[...new Set(known)].join(', ')}`,
    );
  }
  const waiting = (pid) => console.error(`waiting for the machines of process ${pid}`);
  await exclusively(join(cache, 'turns'), () => all(named, parts, values), waiting);
});
