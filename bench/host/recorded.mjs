// Measurements of recorded commands and their undos in a host process. Times are in milliseconds.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CREATE = fileURLToPath(new URL('create.mjs', import.meta.url));
const NAME = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];

/** The ways to record a command. */
const WAYS = {
  off: {},
  watch: { receipt: 'watch' },
  exact: { receipt: 'exact' },
  undo: { undo: 'always' },
  confined: { confine: 'workspace' },
  'confined, exact': { confine: 'workspace', receipt: 'exact' },
  'confined, undo': { confine: 'workspace', undo: 'always' },
};

const directories = new Map();

/** The working directory of this name, the same for all commands of this process. */
function directoryOf(name) {
  if (!directories.has(name)) {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-bash-recorded-')));
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

    directories.set(name, directory);
  }
  return directories.get(name);
}

export const timed = async (act) => {
  const started = performance.now();
  const result = await act();
  return [performance.now() - started, result];
};

/** Runs a command, cold unless told otherwise, and expects its record to be whole. Returns its time and result. */
export async function recorded(way, command, cwd, warm = false) {
  const { bash } = await import('agent-bash');
  const [time, result] = await timed(() => bash(command, { cwd, warm, ...WAYS[way] }));
  const { exitCode, stderr, receipt, undo } = result;
  if (exitCode !== 0) throw new Error(`${command}: exit code ${exitCode}: ${stderr}`);
  if (way.includes('exact') && receipt?.state !== 'known') throw new Error(`${command}: ${receipt?.why}`);
  if (way.includes('undo') && undo?.covers !== 'all') throw new Error(`${command}: ${undo?.notCovered}`);
  return [time, result];
}

/** Creates files from a Node process, as `npm ci` does, in a process of its own that no record knows. */
const fill = (cwd, count) => execFileSync(process.execPath, [CREATE, 'files', count], { cwd });

/** Runs a command `count` times in warm shells, with a pause before each. Returns the times. */
async function recordedStarts(way, command, count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    await sleep(10);
    times.push((await recorded(way, command, directoryOf('starts'), true))[0]);
  }
  return times;
}

/** Creates `count` files in a command. Returns the time of the whole command, with its record. */
async function recordedCreation(way, count) {
  const cwd = directoryOf('files');
  // The repository may lie where a world has a private directory.
  copyFileSync(CREATE, join(cwd, 'create.mjs'));
  const [time, { receipt }] = await recorded(way, `'${process.execPath}' create.mjs files ${count}`, cwd);
  if (receipt && receipt.counts.created < count) throw new Error(`${receipt.counts.created} files in the receipt`);
  rmSync(join(cwd, 'files'), { recursive: true });
  return time;
}

/** Removes `count` files in a command, and brings them back if they are kept. Returns both times. */
async function recordedRemoval(way, count) {
  const { undo } = await import('agent-bash');
  const cwd = directoryOf('files');
  fill(cwd, count);
  const [time, { runId }] = await recorded(way, 'rm -rf files', cwd);
  if (!way.includes('undo')) return [time];
  const [back, { restored, conflicts }] = await timed(() => undo(runId));
  if (restored.length < count || conflicts.length > 0) throw new Error(`${restored.length} files restored`);
  rmSync(join(cwd, 'files'), { recursive: true });
  return [time, back];
}

/** A repository with a tree of `count` files, of which git knows none. */
function repository(name, count) {
  const cwd = directoryOf(name);
  execFileSync('git', ['init', '-q'], { cwd });
  execFileSync('git', [...NAME, 'commit', '-q', '--allow-empty', '-m', 'begin'], { cwd });
  fill(cwd, count);
  return cwd;
}

/** The ways of others to keep files before a command, and to bring them back. */
const PEERS = {
  'cp -al': {
    keep: (cwd) => execFileSync('cp', ['-al', 'files', 'kept'], { cwd }),
    back: (cwd) => renameSync(join(cwd, 'kept'), join(cwd, 'files')),
  },
  'shadow git': {
    keep(cwd) {
      const env = { ...process.env, GIT_DIR: join(cwd, '.shadow'), GIT_WORK_TREE: cwd };
      execFileSync('git', ['init', '-q'], { cwd, env });
      execFileSync('git', ['add', '-A', 'files'], { cwd, env });
      execFileSync('git', ['write-tree'], { cwd, env });
    },
    back(cwd) {
      const env = { ...process.env, GIT_DIR: join(cwd, '.shadow'), GIT_WORK_TREE: cwd };
      execFileSync('git', ['checkout-index', '-a', '-f'], { cwd, env });
    },
  },
  'git stash -u': {
    keep(cwd) {
      execFileSync('git', [...NAME, 'stash', '-q', '-u'], { cwd });
      execFileSync('git', [...NAME, 'stash', 'apply', '-q'], { cwd });
    },
    back: (cwd) => execFileSync('git', [...NAME, 'stash', 'pop', '-q'], { cwd }),
  },
};

/** Keeps a tree, removes it and brings it back in the way of a peer. Returns the times of the first and the last. */
async function keptByPeer(name, count) {
  const cwd = repository(name, count);
  const [keep] = await timed(() => PEERS[name].keep(cwd));
  rmSync(join(cwd, 'files'), { recursive: true });
  const [back] = await timed(() => PEERS[name].back(cwd));
  rmSync(join(cwd, 'files'), { recursive: true });
  for (const left of ['.git', '.shadow']) rmSync(join(cwd, left), { recursive: true, force: true });
  return [keep, back];
}

/** Runs commands in a repository of `files` files, in turn with and without `watch`. Returns the times of each way. */
async function watched(command, files, count) {
  const cwd = repository('watched', files);
  // The first one starts to watch the tree.
  for (let tries = 0; (await recorded('watch', 'true', cwd))[1].receipt.state !== 'known'; tries++) {
    if (tries === 200) throw new Error('the tree is never known');
    await sleep(50);
  }
  const times = { off: [], watch: [] };
  for (let i = 0; i < count; i++) {
    for (const way of i % 2 === 0 ? ['off', 'watch'] : ['watch', 'off']) {
      await sleep(5);
      mkdirSync(join(cwd, 'new'));
      times[way].push((await recorded(way, command, cwd))[0]);
      rmSync(join(cwd, 'new'), { recursive: true });
    }
  }
  for (const left of ['.git', 'files']) rmSync(join(cwd, left), { recursive: true });
  return times;
}

export const recordings = { recordedStarts, recordedCreation, recordedRemoval, keptByPeer, watched };
