// Measurements in a host process. Times are in milliseconds, sizes in bytes.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from '../contestants/index.mjs';
import { background } from './background.mjs';
import { confined } from './confined.mjs';
import { drafted } from './drafted.mjs';
import { entries } from './entered.mjs';
import { Meter } from './meter.mjs';
import { paced } from './paced.mjs';
import { prices } from './priced.mjs';
import { recordings } from './recorded.mjs';
import { secrets } from './secrets.mjs';
import { soak } from './soak.mjs';
import { targets } from './targets.mjs';
import { terminals } from './terminals.mjs';
import { views } from './views.mjs';
import { work } from './work.mjs';

const loaded = new Map();
const ballast = [];

async function contestant(name) {
  if (!loaded.has(name)) loaded.set(name, await load(name));
  return loaded.get(name);
}

function expectSuccess(name, { exitCode }) {
  if (exitCode !== 0) throw new Error(`${name}: \`true\` gave exit code ${exitCode}`);
}

/** Returns the environment of our commands, as the kernel passed it to bash. */
async function environment() {
  const { bash } = await import('agent-bash');
  // bash is not replaced by its last command here, so /proc shows its initial environment. Sanitized text would lose
  // the NULs between the entries.
  const { stdout } = await bash('cat /proc/$$/environ 2>/dev/null || env -0; :', { sanitize: false });
  const entries = stdout.split('\0').filter(Boolean);
  const env = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2)));
  if (env.PATH !== process.env.PATH || env.AGENT_BASH !== '1') {
    throw new Error(`not the environment of a command: ${Object.keys(env)}`);
  }
  return env;
}

/** Runs `true` `count` times, one after another. Returns the time of each, and of its synchronous part. */
async function latency(name, count, env) {
  const { run } = await contestant(name);
  const total = [];
  const call = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    const pending = run('true', env);
    const returned = performance.now();
    const result = await pending;
    total.push(performance.now() - started);
    call.push(returned - started);
    expectSuccess(name, result);
  }
  return { total, call };
}

/** Measures the longest gap between two turns of a busy event loop until the returned function is called. */
function watchTurns() {
  let last = performance.now();
  let longest = 0;
  let on = true;
  const turn = () => {
    const now = performance.now();
    if (now - last > longest) longest = now - last;
    last = now;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    on = false;
    return Math.max(longest, performance.now() - last);
  };
}

/** Returns the longest event-loop gap of each of `count` runs of `true`, or of an idle loop if `name` is null. */
async function block(name, count, env) {
  const run = name === null ? () => sleep(2).then(() => ({ exitCode: 0 })) : (await contestant(name)).run;
  const gaps = [];
  for (let i = 0; i < count; i++) {
    const stop = watchTurns();
    const result = await run('true', env);
    gaps.push(stop());
    expectSuccess(name, result);
  }
  return gaps;
}

/** Makes this process permanently `bytes` larger, with every page touched. Resolves with its resident size. */
async function grow(bytes) {
  for (let left = bytes; left > 0; left -= 2 ** 26) {
    const block = Buffer.allocUnsafeSlow(Math.min(left, 2 ** 26));
    for (let at = 0; at < block.length; at += 4096) block[at] = 1;
    ballast.push(block);
  }
  return process.memoryUsage.rss();
}

/** Reads all output of `command`: into `file` if `way` is 'drain', as a string if it is 'collect'. */
async function output(name, way, command, file) {
  const { [way]: produce } = await contestant(name);
  const meter = new Meter();
  await produce(command, file);
  return meter.stop();
}

/**
 * Runs `commands` all at once. Returns the time until the last settled, the number of right results, and leaked
 * descriptors.
 */
async function crowd(name, commands, env) {
  const { run } = await contestant(name);
  const before = openDescriptors();
  const started = performance.now();
  const settled = await Promise.allSettled(commands.map(({ command }) => run(command, env)));
  const total = performance.now() - started;
  const right = settled.filter(
    ({ value }, i) => value?.exitCode === commands[i].exitCode && value.stdout.trimEnd() === commands[i].stdout,
  ).length;
  const error = settled.find(({ status }) => status === 'rejected')?.reason;
  await sleep(50);
  return { total, right, error: error?.code ?? error?.message ?? null, leaked: openDescriptors() - before };
}

function openDescriptors() {
  return readdirSync('/dev/fd').length;
}

export const tasks = {
  environment,
  latency,
  block,
  grow,
  output,
  crowd,
  ...background,
  ...confined,
  ...drafted,
  ...entries,
  ...secrets,
  ...recordings,
  ...prices,
  paced,
  soak,
  ...targets,
  ...terminals,
  ...views,
  ...work,
};
