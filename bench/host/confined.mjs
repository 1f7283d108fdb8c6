// Measurements of confined commands in a host process. Times are in milliseconds.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atRest, withTemporary } from './held.mjs';

const CREATE = fileURLToPath(new URL('create.mjs', import.meta.url));
/** The peers' namespaces are those of a world, and so are the places that can be written. */
const BWRAP = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];

/** Runs a program with both pipes read, as a library does. Returns its output. */
async function output(file, args, cwd) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = ['', ''];
  [child.stdout, child.stderr].forEach((stream, at) => {
    stream.setEncoding('utf8').on('data', (data) => {
      text[at] += data;
    });
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${file}: exit code ${code}: ${text[1]}`);
  return text[0];
}

/** The confinement of sandbox-runtime, whose directory this is. It is made once per process, like a world. */
let runtime;
async function wrapped(folder, command, cwd) {
  if (!runtime) {
    ({ SandboxManager: runtime } = await import(join(folder, 'dist/index.js')));
    const network = { allowedDomains: [], deniedDomains: [] };
    // Its proxies would keep this process.
    process.once('disconnect', () => runtime.reset().finally(() => process.exit()));
    await runtime.initialize({ network, filesystem: { denyRead: [], allowWrite: [cwd], denyWrite: [] } });
  }
  return runtime.wrapWithSandbox(command);
}

/** The ways to run a command in a directory. Each resolves with its output. */
const WAYS = {
  plain: (command, cwd) => ours(command, { cwd, warm: false }),
  'plain, warm': (command, cwd) => ours(command, { cwd }),
  confined: (command, cwd) => ours(command, { cwd, warm: false, confine: 'workspace' }),
  'confined, warm': (command, cwd) => ours(command, { cwd, confine: 'workspace' }),
  spawn: (command, cwd) => output('bash', ['-c', command], cwd),
  bwrap: (command, cwd) => output('bwrap', [...BWRAP, '--bind', cwd, cwd, 'bash', '-c', command], cwd),
  'sandbox-runtime': async (command, cwd, folder) => output('bash', ['-c', await wrapped(folder, command, cwd)], cwd),
};

async function ours(command, options) {
  const { bash } = await import('agent-bash');
  const { exitCode, stdout, stderr, confinement } = await bash(command, options);
  if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}: ${stderr}`);
  if (confinement?.missing.length) throw new Error(`not confined: ${JSON.stringify(confinement.missing)}`);
  return stdout;
}

const directories = new Map();

/** The working directory of a way, the same for all its commands. */
function directoryOf(way) {
  if (!directories.has(way)) {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-bash-confined-')));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
    directories.set(way, directory);
  }
  return directories.get(way);
}

/** Runs `true` `count` times with a pause of `ms` before each run. Returns the times. */
async function confinedStarts(way, count, ms, folder) {
  const times = [];
  const cwd = directoryOf(way);
  for (let i = 0; i < count; i++) {
    if (ms > 0) await sleep(ms);
    const started = performance.now();
    await WAYS[way]('true', cwd, folder);
    times.push(performance.now() - started);
  }
  return times;
}

/** Runs the first command of `count` worlds, whose owners end after it. Returns the times. */
async function firstCommands(count, confine) {
  const { BashSession } = await import('agent-bash');
  const times = [];
  for (let i = 0; i < count; i++) {
    const session = new BashSession({ cwd: directoryOf('first'), ...(confine && { confine }) });
    const started = performance.now();
    await session.run('true');
    times.push(performance.now() - started);
    await session.close();
  }
  return times;
}

/**
 * Runs the first command of `count` sessions, `wait` ms after each was made, and `later` more. Returns their times. The
 * supervisor runs before, and all but a single session find what an earlier one has left.
 */
async function firstAndLater({ count, confine, wait, later }) {
  const { bash, BashSession } = await import('agent-bash');
  const timed = async (run) => {
    const started = performance.now();
    await run();
    return performance.now() - started;
  };
  const cwd = directoryOf('first');
  const live = async () => {
    const session = new BashSession({ cwd, ...(confine && { confine }) });
    await sleep(wait);
    const times = { first: await timed(() => session.run('true')), later: [] };
    for (let n = 0; n < later; n++) {
      await sleep(20);
      times.later.push(await timed(() => session.run('true')));
    }
    await session.close();
    // The end of a world takes the processor for a while.
    await sleep(100);
    return times;
  };
  await bash('true', { cwd });
  await sleep(100);
  if (count > 1) await live();
  const all = [];
  for (let n = 0; n < count; n++) all.push(await live());
  return all;
}

/** Creates `count` small files below the working directory, from a Node process. Returns the time without its start. */
async function createFiles(way, count, folder) {
  const cwd = directoryOf(way);
  const target = join(cwd, 'files');
  mkdirSync(target);
  // The repository may lie where a world has a private directory.
  copyFileSync(CREATE, join(cwd, 'create.mjs'));
  try {
    return Number(await WAYS[way](`'${process.execPath}' create.mjs files ${count}`, cwd, folder));
  } finally {
    rmSync(target, { recursive: true });
  }
}

/** Makes and ends worlds, some at a time. Returns the resources before and after, and the places that are left. */
function manyWorlds(count) {
  return withTemporary(async () => {
    const { BashSession } = await import('agent-bash');
    const places = [];
    const lives = async (left) => {
      for (; left.count > 0; ) {
        left.count -= 1;
        const session = new BashSession({ cwd: directoryOf('worlds'), confine: 'workspace' });
        const { exitCode, confinement } = await session.run('sleep 100 & echo x > /tmp/x');
        if (exitCode !== 0) throw new Error(`exit code ${exitCode} in a world`);
        places.push(confinement.tmp);
        await session.close();
      }
    };
    const all = async (worlds) => {
      const left = { count: worlds };
      await Promise.all(Array.from({ length: 8 }, () => lives(left)));
    };
    await all(16);
    // Helpers that are no longer needed exit by themselves.
    await sleep(1_000);
    const before = await atRest(({ zombies }) => zombies === 0);
    await all(count);
    const keys = [
      'descriptors',
      'helperDescriptors',
      'threads',
      'processes',
      'zombies',
      'namespaces',
      'mounts',
      'files',
    ];
    const after = await atRest((now) => keys.every((key) => now[key] <= before[key]) && !places.some(existsSync));
    return { before, after, left: places.filter(existsSync) };
  });
}

export const confined = { confinedStarts, firstAndLater, firstCommands, createFiles, manyWorlds };
