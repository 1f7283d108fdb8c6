// npm run bench [-- --short] [--only ROW] [--json] [--chart] [--peers] [--folder DIR]. See README.md.

import { accessSync, constants, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir, type } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Baseline } from './baseline/index.mjs';
import { ROWS as CHARTED, chart } from './chart.mjs';
import { OURS } from './contestants/index.mjs';
import { withHost } from './host/index.mjs';
import * as confine from './rows/confine.mjs';
import * as crowd from './rows/crowd.mjs';
import * as drafts from './rows/drafts.mjs';
import * as first from './rows/first.mjs';
import * as heap from './rows/heap.mjs';
import * as ledger from './rows/ledger.mjs';
import * as load from './rows/load.mjs';
import * as output from './rows/output.mjs';
import * as page from './rows/page.mjs';
import * as receipts from './rows/receipts.mjs';
import * as records from './rows/records.mjs';
import * as safety from './rows/safety.mjs';
import * as secrets from './rows/secrets.mjs';
import * as shells from './rows/shells.mjs';
import * as soak from './rows/soak.mjs';
import * as start from './rows/start.mjs';
import * as targets from './rows/targets.mjs';
import * as tasks from './rows/tasks.mjs';
import * as terminal from './rows/terminal.mjs';
import * as tokens from './rows/tokens.mjs';
import * as views from './rows/views.mjs';
import * as work from './rows/work.mjs';
import { met, render } from './table.mjs';

const ROWS = {
  start,
  shells,
  heap,
  output,
  crowd,
  load,
  tasks,
  terminal,
  safety,
  confine,
  drafts,
  secrets,
  first,
  receipts,
  records,
  ledger,
  page,
  work,
  tokens,
  views,
  targets,
  soak,
};

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    chart: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    folder: { type: 'string', default: tmpdir() },
  },
});

// Published figures come from a full run of their own.
if (options.chart && (options.only || options.short || options.peers)) {
  throw new Error('--chart selects its own rows and measures them in full: leave out --only, --short and --peers');
}
const names = options.chart ? CHARTED : (options.only ?? Object.keys(ROWS));
for (const name of names) {
  if (!(name in ROWS)) throw new Error(`no row “${name}”; the rows are: ${Object.keys(ROWS).join(', ')}`);
}

function findOnPath(program) {
  for (const directory of process.env.PATH.split(delimiter)) {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return join(directory, program);
    } catch {
      // Not in this directory.
    }
  }
  throw new Error(`no ${program} on PATH`);
}

const say = (text) => options.json || process.stdout.write(`${text}\n`);
const machine = {
  node: process.version,
  system: `${type()} ${release()}`,
  cores: availableParallelism(),
  processor: cpus()[0]?.model ?? 'unknown',
  loadBefore: loadavg()[0],
  short: options.short,
};
say(`agent-bash benchmarks${options.short ? ' (short)' : ''}: ratios within one run, medians of interleaved rounds`);
say(`Node ${machine.node}, ${machine.system}, ${machine.cores} cores, load ${machine.loadBefore.toFixed(2)} before\n`);
if (machine.loadBefore > machine.cores / 4) say('This machine is busy: run the benchmarks again when it is quiet.\n');

const shell = findOnPath('bash');
const env = options.peers ? { ...process.env } : await withHost({}, (host) => host.ask('environment'));
const baseline = new Baseline(shell, env);
const context = {
  baseline,
  env,
  shell,
  short: options.short,
  folder: options.folder,
  ours: options.peers ? [] : [OURS],
};
const report = [];
try {
  for (const name of names) {
    const started = performance.now();
    let lines;
    try {
      lines = await ROWS[name].measure(context);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${name}: ${error.stack}\n\n`);
      report.push({ row: name, title: ROWS[name].title, lines: [], error: error.message });
      continue;
    }
    report.push({ row: name, title: ROWS[name].title, lines: lines.map((line) => ({ ...line, met: met(line) })) });
    say(render(`${name}: ${ROWS[name].title} (${((performance.now() - started) / 1e3).toFixed(0)} s)`, lines));
    say('');
  }
} finally {
  await baseline.stop();
}

const judged = report.flatMap(({ lines }) => lines).filter((line) => line.reach !== null);
const missed = judged.filter((line) => !line.met);
if (options.chart && !process.exitCode) {
  const here = (path) => join(import.meta.dirname, path);
  const results = { machine, report };
  writeFileSync(here('results.json'), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(here('../docs/benchmarks.svg'), chart(results));
  say('written: bench/results.json, docs/benchmarks.svg\n');
}
if (options.json) process.stdout.write(`${JSON.stringify({ machine, report }, null, 2)}\n`);
else if (judged.length > 0) say(`${judged.length - missed.length} of ${judged.length} targets met`);
