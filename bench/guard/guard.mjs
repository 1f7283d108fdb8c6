/**
 * `npm run bench:guard [-- --pure] [--only WORD] [--update]`: counts the instructions and the memory of hot paths of
 * the release build, and compares them with `figures.json`. See bench/README.md.
 *
 * Instructions do not depend on what else the machine does, as times do. `--pure` leaves out the paths of whole
 * commands, which need the optimized addon.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { triple } from '../../scripts/platform.mjs';
import { Failed, isMain, main, root, run, since } from '../../scripts/process.mjs';
import { setUp } from '../../scripts/setup.mjs';
import { costOfCommands, costOfWork } from './count.mjs';
import { judge, updated } from './judge.mjs';
import { PATHS as COMMANDS } from './paths.mjs';

const FIGURES = join(import.meta.dirname, 'figures.json');

/**
 * Times that a path is measured whose cost is not that of its figure. Where processes race, a command takes more than
 * it has to now and then, so the least counts.
 */
const ROUNDS = 3;

/** Builds the program of the paths without processes. Returns its path. */
export async function buildPure(options) {
  const package_ = ['--package', 'agent-bash-guard'];
  await run('cargo', ['build', '--profile', 'guard', '--target', triple, ...package_], { output: 'keep', ...options });
  return join(root, 'target', triple, 'guard', 'guard');
}

/** The measurements by the names of their paths. Each resolves to `{ instructions, bytes }`. */
async function measurements({ pure, options }) {
  const guard = await buildPure(options);
  const { stdout } = await run(guard, [], { output: 'keep' });
  const named = stdout.trim().split('\n');
  const all = named.map((name) => [name, () => costOfWork(guard, name)]);
  if (pure) return all;
  await setUp({ full: true });
  return [...all, ...Object.keys(COMMANDS).map((name) => [name, () => costOfCommands(name)])];
}

/** Returns the lower cost in each unit. */
function least(cost, other = cost) {
  return Object.fromEntries(Object.entries(cost).map(([unit, count]) => [unit, Math.min(count, other[unit])]));
}

/** Does all tasks, as many at once as there are processors. */
async function inTurns(tasks) {
  const left = [...tasks];
  const work = async () => {
    for (let task = left.shift(); task; task = left.shift()) await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

/**
 * Measures and compares. Throws `Failed` if a path costs more or less than its figures say, or has none; with `update`
 * it writes the figures.
 */
export async function guard({ pure = false, only = '', update = false, ...options } = {}) {
  const figures = existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : {};
  const chosen = (await measurements({ pure, options })).filter(([name]) => name.includes(only));
  const names = chosen.map(([name]) => name);
  const measured = {};
  const isWrong = ([name]) => judge(figures, measured, [name]).wrong.length > 0;
  for (let round = 0, left = chosen; round < ROUNDS && left.length > 0; round++) {
    await inTurns(
      left.map(([name, measure]) => async () => {
        measured[name] = least(await measure(), measured[name]);
      }),
    );
    left = update ? chosen : chosen.filter(isWrong);
  }
  if (update) {
    writeFileSync(FIGURES, `${JSON.stringify(updated(figures, measured), null, 2)}\n`);
    return;
  }
  const { lines, wrong } = judge(figures, measured, names);
  console.log(lines.join('\n'));
  if (wrong.length > 0) throw new Failed(wrong.join('\n'));
}

if (isMain(import.meta)) {
  const { values } = parseArgs({
    options: {
      pure: { type: 'boolean' },
      only: { type: 'string' },
      update: { type: 'boolean' },
    },
  });
  await main(async () => {
    const start = performance.now();
    await guard(values);
    console.log(`measured in ${since(start)}`);
  });
}
