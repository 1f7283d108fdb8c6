import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../../console.ts';
import { type Place, shellLine } from './plan.ts';
import type { Change, Removal, Written } from './types.ts';

/** Where and how changes are made. */
export interface Hands extends Place {
  /** Whether changes are made through sudo. */
  sudo: boolean;
}

/** Directories that only agent-bash uses. They are removed when they are empty. */
const OWN = /\/agent-bash(\/[^/]+)?$/;

/** Makes a change. Throws a `Failure` that names it. */
export function apply(change: Change | Removal, hands: Hands): void {
  if (change.kind === 'run') run(change.argv, hands);
  else {
    checkInside(change.path, hands.top);
    if (change.kind === 'remove') remove(change.path, hands);
    else if (hands.sudo) install(change, hands);
    else write(change);
  }
}

/** Writes a file by a program, for sudo. */
function install(change: Written, hands: Hands): void {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-fix-'));
  try {
    const from = change.kind === 'copy' ? change.from : join(folder, 'file');
    if (change.kind === 'file') writeFileSync(from, change.content);
    run(['install', '-D', '-m', change.mode.toString(8), from, change.path], hands);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes a file beside its place and moves it there, so that nothing sees a part of it. */
function write(change: Written): void {
  const before = process.umask(0o022);
  const beside = `${change.path}.agent-bash-${process.pid}`;
  try {
    makeFolder(dirname(change.path));
    if (change.kind === 'copy') copyFileSync(change.from, beside);
    else writeFileSync(beside, change.content);
    chmodSync(beside, change.mode);
    renameSync(beside, change.path);
  } catch (error) {
    throw failed(`${change.path} cannot be written`, error);
  } finally {
    rmSync(beside, { force: true });
    process.umask(before);
  }
}

/** Makes a directory with those above it. Node's own recursion does not end on a file system without directories. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

function remove(path: string, hands: Hands): void {
  if (hands.sudo) run(['rm', path], hands);
  else {
    try {
      rmSync(path);
    } catch (error) {
      throw failed(`${path} cannot be removed`, error);
    }
  }
  for (let folder = dirname(path); OWN.test(folder) && readdirSync(folder).length === 0; folder = dirname(folder)) {
    if (hands.sudo) run(['rmdir', folder], hands);
    else rmdirSync(folder);
  }
}

/** Runs a program. Its output is not that of agent-bash, so that only errors are seen. */
function run(argv: string[], { sudo }: Hands): void {
  const [program = '', ...rest] = sudo ? ['sudo', ...argv] : argv;
  const { error, status, signal } = spawnSync(program, rest, { stdio: ['inherit', 'ignore', 'inherit'] });
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    const remedy = sudo ? 'run this as root' : 'install it, and try again';
    throw new Failure('ENOENT', `${program} is not there: ${remedy}`);
  }
  if (error) throw failed(`${program} cannot be run`, error);
  if (status !== 0) {
    throw new Failure(
      'ERR_BASH_SPAWN',
      `${shellLine({ kind: 'run', argv })} failed (${signal ?? `exit code ${status}`})`,
    );
  }
}

/** Throws if a link in a directory that stands for `/` leads out of it. */
function checkInside(path: string, top: string): void {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  const root = realpathSync(top);
  const real = realpathSync(folder);
  if (root === '/' || real === root || real.startsWith(`${root}/`)) return;
  throw new Failure('EXDEV', `${folder} leads out of ${top}, to ${real}: give a directory without such links`);
}

function failed(what: string, error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  return new Failure(code ?? 'ERR_UNKNOWN', `${what}: ${message}`);
}
