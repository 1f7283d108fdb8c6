/**
 * `npm run test:stress`: the hunt for rare faults. `-- PART …` runs single parts, `-- --list` lists them. At the end it
 * prints a table, and writes it to `target/stress/report.md` and `report.json`.
 *
 * Each directory of `__test__/stress` is a part. The others repeat tests of the gate in another way, or are no vitest.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { guard } from '../bench/guard/guard.mjs';
import { worst } from '../bench/guard/worst.mjs';
import { denied } from './audit.mjs';
import { frameworkTests } from './frameworks.mjs';
import { programs } from './machine.mjs';
import { triple } from './platform.mjs';
import { Failed, isMain, main, npm, root, run, since, tool } from './process.mjs';
import { again, closing, NONE, rust, sum, visiblePlace, vitest } from './runners.mjs';
import { setUp } from './setup.mjs';
import { STRESS } from './suites.mjs';

const minutes = 60_000;

/** A bound against a hang, for each part. */
const options = { limitMs: 60 * minutes };

/** The tests of a directory of `__test__/stress`. */
const directory = (name, covers) => ({
  name,
  covers,
  act: () => vitest(['--project=stress', `${STRESS}/${name}/`], options),
});

/** Packs, and checks the tarball of the main package as registries and compilers see it. */
async function packs(options) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-check-'));
  try {
    const packing = [join(root, 'scripts', 'pack.mjs'), folder];
    const { stdout } = await run(process.execPath, packing, { ...options, output: 'keep' });
    const tarball = stdout.trim().split('\n').at(-1);
    await run(tool('publint'), ['run', tarball, '--strict'], options);
    const plain = ['--no-definitely-typed', '--no-emoji', '--format', 'ascii'];
    await run(tool('attw'), [tarball, ...plain], { ...options, output: 'keep' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes libFuzzer's counters of coverage, without a sanitizer, which would need an unstable compiler. */
const COVERAGE = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
];

/** Feeds the reader of a link with bytes that libFuzzer makes up, for two minutes. */
async function fuzz(options) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-fuzz-'));
  try {
    const target = ['--target', triple, '--target-dir', join(root, 'target', 'fuzz')];
    const built = ['run', '--package', 'agent-bash-remote', '--features', 'fuzz', '--bin', 'fuzz-link', ...target];
    const bounds = ['-max_total_time=120', '-rss_limit_mb=1024', `-artifact_prefix=${join(root, 'target', 'fuzz')}/`];
    await run('cargo', [...built, '--', ...bounds, folder], { ...options, env: { RUSTFLAGS: COVERAGE.join(' ') } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A step that passes or fails as a whole. */
const step = (name, covers, act) => ({ name, covers, act: () => act().then(() => ({ ...NONE, passed: 1 })) });

/** A repeat of the files that `REPEATED` lists. */
const repeat = (name, covers) => ({ name, covers, act: () => vitest([`--project=${name}`], options) });

const confined = {
  name: 'confined',
  covers: 'confinement, and how each room behaves inside',
  // Confined commands do not see the /tmp of this machine.
  act: () => vitest(['--project=confined'], { ...options, place: visiblePlace() }),
};

/** The gate's vitest files on another Node, which an npm package brings. */
const onNode = (major) => ({
  name: `node${major}`,
  covers: `the addon and the TypeScript layer on Node ${major}`,
  async act() {
    const [place, prefix] = [visiblePlace(), mkdtempSync(join(root, 'target', 'node-'))];
    try {
      const name = `node-${process.platform}-${process.arch}`;
      const args = ['install', '--prefix', prefix, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
      await run(npm, [...args, `${name}@${major}`], { output: 'keep', cwd: prefix, limitMs: 5 * minutes });
      const node = join(prefix, 'node_modules', name, 'bin', 'node');
      const { stdout } = await run(node, ['--version'], { output: 'keep' });
      if (!stdout.startsWith(`v${major}.`)) throw new Failed(`asked for Node ${major}, got ${stdout.trim()}`);
      return await vitest(['--project=gate'], { ...options, place, node: join(place, relative(root, node)) });
    } finally {
      rmSync(prefix, { recursive: true, force: true });
    }
  },
});

const unit = (name, covers, words, more) => ({ name, covers, act: () => rust(words, { ...options, ...more }) });

/** The directory of a part, and the Rust tests with this word, which make other cases each time. */
const withRust = (name, covers, word) => ({
  name,
  covers,
  async act() {
    const env = { AGENT_BASH_SEED: `${randomInt(2 ** 31)}` };
    return sum([await rust([word], { ...options, stress: 'only', env }), await directory(name).act()]);
  },
});

/** All parts. `full` marks those that need the optimized addon. */
export const PARTS = [
  unit('units', 'Rust tests that take several seconds, measure time or load the machine', [], { stress: 'only' }),
  unit('properties', 'Rust tests with other cases of their property tests', [], {
    env: { PROPTEST_RNG_SEED: `${randomInt(2 ** 31)}` },
  }),
  unit('mutation', 'safety: the corpus cut, mixed and wrapped', ['mutation_tests', 'outside_tests'], {
    env: { AGENT_BASH_MUTATIONS: '100000', AGENT_BASH_WRAPPINGS: '40' },
  }),
  directory('generated', 'safety, receipts, capture, evidence'),
  directory('histories', 'undo, receipts'),
  directory('crashes', 'undo, receipts, ledger, drafts'),
  directory('chaos', 'background tasks'),
  directory('attacks', 'confinement, drafts, terminals, sessions, rendering, the tools'),
  directory('secrets', 'secrets: attempts to read or send a value away, floods, search of memory and disk'),
  withRust('gate', 'confinement: how real servers read the first bytes of a connection', 'handshake::differential'),
  directory('bombs', 'limits: fork bombs, each in a namespace that ends it'),
  // It measures the speed of what users get.
  { ...directory('load', 'running, supervision, warm shells, limits, output, drafts'), full: true },
  directory('tasks', 'background tasks, moving, survivors'),
  directory('sessions', 'sessions, snapshots, the session sandbox'),
  directory('tools', 'the tools for models and for providers, sandboxes'),
  directory('terminals', 'terminals, the terminal tool'),
  directory('waits', 'blocked processes and prompts'),
  // Containers have none of the libraries that the program of the quick build needs.
  {
    ...directory('remote', 'targets: cuts, leases, what is left, bytes on the link; shells, containers, pods'),
    full: true,
  },
  directory('page', 'the page in a browser: how it looks, wide screens, keys; its streams'),
  directory('fleets', 'providers: claims on a Kubernetes node, jobs on a Slurm cluster, both real'),
  step('fuzz', 'targets: what a host reads of a machine that lies', () => fuzz(options)),
  directory('programs', 'real programs: git, package managers, servers, databases; confined and undone'),
  directory('differential', 'running: the same scripts in bash itself, in each way of starting'),
  directory('docs', 'documents whose examples run commands, the documentation site'),
  directory('cli', 'the command line, the MCP server'),
  {
    name: 'frameworks',
    covers: 'the adapters for agent frameworks, each driven by its framework',
    act: () => frameworkTests([], options),
  },
  directory('examples', 'the example programs'),
  repeat('cold', 'running without a warm shell'),
  repeat('warm', 'running in warm shells'),
  repeat('session', 'running in sessions'),
  confined,
  onNode(22),
  onNode(24),
  { ...directory('package', 'packing, exports, bundlers, workflows'), full: true },
  step('dependencies', 'licences, duplicates and sources of crates', () => denied({ build: true, ...options })),
  { ...step('packed', 'the tarball: publint, attw', () => packs(options)), full: true },
  step('worst', 'the texts that judging, redacting, shortening and cleaning take longest for', () => worst(options)),
  { ...step('guard', 'speed: instructions and calls of hot paths', () => guard(options)), full: true },
  { ...step('bench', 'speed', () => run(npm, ['run', 'bench', '--', '--short'], options)), full: true },
];

/** Runs a part. A part that cannot run has failed. */
async function outcomeOf({ name, act, full = false }) {
  console.log(`\n=== ${name}`);
  const start = performance.now();
  let counts;
  try {
    await setUp({ full });
    counts = await act();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    console.log(error.output);
    counts = { ...NONE, failed: 1, failures: [{ file: null, name, message: error.message }] };
  }
  console.log(`=== ${name}: ${closing(counts)} in ${since(start)}`);
  return { name, seconds: Math.round((performance.now() - start) / 100) / 10, ...counts };
}

/** The table of a run, in Markdown. */
export function table(outcomes) {
  const rows = outcomes.map(({ name, seconds, passed, failed, skipped }) =>
    ['', name, `${seconds} s`, passed, failed, skipped, ''].join(' | ').trim(),
  );
  return ['| part | time | passed | failed | skipped |', '|---|---|---|---|---|', ...rows, ''].join('\n');
}

/** Writes the report after each part, since a run may be stopped before its end. */
function report(outcomes) {
  const place = join(root, 'target', 'stress');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'report.json'), `${JSON.stringify({ node: process.version, parts: outcomes }, null, 2)}\n`);
  writeFileSync(join(place, 'report.md'), table(outcomes));
}

/** The parts by their names, or all. */
function chosen(names) {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    throw new Failed(`no part is called ${unknown.join(', ')}: \`npm run test:stress -- --list\` lists the parts`);
  }
  return PARTS.filter(({ name }) => names.length === 0 || names.includes(name));
}

if (isMain(import.meta)) {
  await main(async () => {
    const names = process.argv.slice(2);
    if (names.includes('--list')) {
      for (const { name, covers } of PARTS) console.log(`${name.padEnd(14)} ${covers}`);
      return;
    }
    const parts = chosen(names);
    // A missing capability fails a test instead of skipping it.
    process.env.AGENT_BASH_CI = '1';
    await programs({ stress: true, limitMs: 10 * minutes });
    const outcomes = [];
    for (const part of parts) {
      outcomes.push(await outcomeOf(part));
      report(outcomes);
    }
    const all = sum(outcomes);
    if (all.failed > 0) process.exitCode = 1;
    console.log(again(all.failures));
    console.log(table(outcomes));
    console.log(closing(all));
  });
}
