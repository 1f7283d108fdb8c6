/**
 * `npm run machines [-- NAME… [PART…]] [--json FILE]`: runs the project on each machine of machines.mjs, or on those
 * named, and prints a table machine × part. Words that name no machine are parts. `--json` writes its rows, each
 * `{ machine, part, passed, failed, skipped, why, seconds }`. `--record` writes them into npm/machines.json, from which
 * docs/platforms.md is generated. `--list` lists the machines.
 *
 * Needs root and Debian's `apt` for all machines but the last two. What is downloaded or built once is kept in
 * `~/.cache/agent-bash/machines`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { exclusively } from '../lock.mjs';
import { Failed, main, since } from '../process.mjs';
import { record } from './levels.mjs';
import { MACHINES } from './machines.mjs';
import { cache, Missing } from './zig.mjs';

/** The rows of a machine. One that cannot be had is a row of its own, skipped. */
async function rowsOf(name, parts) {
  const start = performance.now();
  const onLine = (line) => console.log(`${name.padEnd(10)} ${line}`);
  console.log(`\n=== ${name}: ${MACHINES[name].about}`);
  let rows = [];
  try {
    rows = await MACHINES[name].run(name, { parts, onLine });
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.log(`${error.output}${error.message}`);
    const [failed, skipped] = error instanceof Missing ? [0, 1] : [1, 0];
    rows = [...(error.rows ?? []), { part: 'machine', passed: 0, failed, skipped, why: [error.message], seconds: 0 }];
  }
  console.log(`=== ${name}: ${since(start)}`);
  return rows.map((row) => ({ machine: name, ...row }));
}

/** The table machine × part, and the reasons behind it. */
function table(rows) {
  const lines = rows.map(({ machine, part, passed, failed, skipped, seconds }) =>
    [
      machine.padEnd(12),
      part.padEnd(32),
      `${passed} passed`,
      `${failed} failed`,
      `${skipped} skipped`,
      `${seconds} s`,
    ].join('  '),
  );
  const why = rows.flatMap(({ machine, part, why }) => why.map((reason) => `${machine} ${part}: ${reason}`));
  return [...lines, ...(why.length ? ['', ...why] : [])].join('\n');
}

/** Runs the machines, prints the table and writes the rows. */
async function all(named, parts, values) {
  const rows = [];
  for (const name of named.length > 0 ? named : Object.keys(MACHINES)) {
    rows.push(...(await rowsOf(name, parts)));
    if (values.json) {
      mkdirSync(dirname(resolve(values.json)), { recursive: true });
      writeFileSync(resolve(values.json), `${JSON.stringify(rows, null, 2)}\n`);
    }
  }
  if (values.record) record(rows, Object.keys(MACHINES));
  console.log(`\n${table(rows)}`);
  if (rows.some(({ failed }) => failed > 0)) process.exitCode = 1;
}

await main(async () => {
  const options = { json: { type: 'string' }, record: { type: 'boolean' }, list: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.list) {
    for (const [name, { about }] of Object.entries(MACHINES)) console.log(`${name.padEnd(12)} ${about}`);
    return;
  }
  const named = positionals.filter((word) => word in MACHINES);
  const parts = positionals.filter((word) => !(word in MACHINES));
  if (parts.length > 0 && named.length === 0) {
    throw new Failed(`no machine is called ${parts[0]}: \`npm run machines -- --list\` lists the machines`);
  }
  const waiting = (pid) => console.error(`waiting for the machines of process ${pid}`);
  await exclusively(join(cache, 'turns'), () => all(named, parts, values), waiting);
});
