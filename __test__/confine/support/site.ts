import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isRoot, processOf } from '../../support/index.ts';
import type { Canaries } from './canaries.ts';
import type { Ground } from './ground.ts';
import type { User } from './users.ts';

/** The result of a command, as `bash()` reports it. */
export interface Raid {
  stdout: string;
  stderr: string;
  status: string;
  exitCode: number | null;
  confinement?: { held: string[]; denied: { kind: string; target: string }[]; deniedTotal: number } | null;
}

/** A process of the host. */
export interface Victim {
  pid: number;
  /** Where in its memory the secret lies. */
  address: bigint;
  process: ChildProcess;
}

/** The place of one attack, and all that the test sees of it. */
export interface Site {
  path: string;
  /** The command's directory, which it may change. */
  work: string;
  /** Must not change. Holds `canary`, and `fresh` must not appear. */
  out: string;
  /** Must not be read: `key` holds the secret, and a name in it contains it. */
  hidden: string;
  home: string;
  /** The text that a canary must not receive. */
  token: string;
  secret: string;
  victim: Victim | null;
  env: Record<string, string>;
  /** State of `out` and of `work` before. */
  before: Map<string, string>;
  raid: Raid;
}

const execute = promisify(execFile);

const NOTHING: Raid = { stdout: '', stderr: '', status: 'none', exitCode: null };

function own(user: User, path: string): void {
  if (isRoot) chownSync(path, user.uid, user.gid);
}

export function write(user: User, path: string, text: string): void {
  writeFileSync(path, text);
  own(user, path);
}

export function directory(user: User, path: string): string {
  mkdirSync(path, { recursive: true });
  own(user, path);
  return path;
}

export const programs = (ground: Ground) =>
  `${ground.bin}:${isRoot ? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' : process.env.PATH}`;

/** A site without a victim. With `repository`, `work` is a copy of it. */
export async function site(
  ground: Ground,
  user: User,
  canaries: Canaries,
  name: string,
  repository: string | null,
): Promise<Site> {
  const path = ground.place(user, name);
  const token = randomBytes(9).toString('hex');
  const secret = `secret-${randomBytes(9).toString('hex')}`;
  const out = directory(user, join(path, 'out'));
  const hidden = directory(user, join(path, 'hidden'));
  const home = ground.home(user);
  const work = join(path, 'work');
  if (repository) await execute('cp', ['-a', repository, work]);
  else directory(user, work);
  write(user, join(work, 'notes'), 'notes\n');
  write(user, join(out, 'canary'), 'original\n');
  write(user, join(hidden, 'key'), `${secret}\n`);
  write(user, join(hidden, secret), '');
  const env = {
    ...{ PATH: programs(ground), HOME: home, LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' },
    ...{ BASE: ground.path, SITE: path, WORK: work, OUT: out, HIDDEN: hidden, TOKEN: token },
    ...{ PORT: String(canaries.port), SHARED: `agent-bash-test-${token}` },
  };
  return { path, work, out, hidden, home, token, secret, victim: null, env, before: new Map(), raid: NOTHING };
}

/** Starts a process to attack: it holds the secret in its memory, environment and descriptor 77. */
export async function victimOf(at: Site, ground: Ground, user: User): Promise<Victim> {
  const argv = ['victim', join(at.path, 'signals'), join(at.hidden, 'key'), at.secret];
  const who = isRoot ? { uid: user.uid, gid: user.gid } : {};
  const child = spawn(join(ground.bin, 'attack'), argv, {
    ...who,
    cwd: at.hidden,
    env: { KEY: at.secret },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const victim = { pid: child.pid ?? 0, address: BigInt(String(text).trim()), process: child };
  Object.assign(at.env, { VICTIM: String(victim.pid), ADDRESS: String(text).trim() });
  return victim;
}

/** All that can be seen of a tree from outside, by path. */
export function stateOf(path: string, state = new Map<string, string>()): Map<string, string> {
  let seen: ReturnType<typeof lstatSync>;
  try {
    seen = lstatSync(path);
  } catch {
    return state;
  }
  const { mode, uid, gid, nlink, size, mtimeMs } = seen;
  const whole =
    seen.isFile() && size < 1e6 ? readFileSync(path, 'latin1') : seen.isSymbolicLink() ? readlinkSync(path) : '';
  state.set(path, [mode, uid, gid, seen.isFile() ? nlink : 0, size, mtimeMs, whole].join(' '));
  if (seen.isDirectory()) for (const name of readdirSync(path)) stateOf(join(path, name), state);
  return state;
}

export function memoryOf({ pid, address }: Victim, length: number): string {
  const file = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const text = Buffer.alloc(length);
    readSync(file, text, 0, length, address);
    return text.toString();
  } finally {
    closeSync(file);
  }
}

/** Whether a signal reached the victim: it noted one, is stopped, or is gone. */
export function wasSignalled({ path, victim }: Site): boolean {
  const state = victim && processOf(victim.pid)?.state;
  if (!victim || state === undefined || 'TtZX'.includes(state ?? '')) return true;
  return readFileSync(join(path, 'signals'), 'utf8') !== '';
}

/** A git repository with a nested one, a submodule, and a worktree, as the template of many sites. */
export function repository(ground: Ground, user: User): string {
  const path = ground.place(user, 'template');
  const git = `git -c user.name=a -c user.email=a@b -c protocol.file.allow=always -c init.defaultBranch=main`;
  const script = `
    set -e
    ${git} init -q inner; (cd inner; ${git} commit -q --allow-empty -m one)
    ${git} init -q work; cd work; ${git} commit -q --allow-empty -m one
    ${git} submodule --quiet add ../inner module; ${git} commit -qm two
    ${git} init -q nested; (cd nested; ${git} commit -q --allow-empty -m one)
    ${git} worktree add -q tree
    mkdir -p .vscode .claude plain; echo {} >.vscode/settings.json; echo {} >.claude/settings.json
    echo original >.bashrc; mkdir -p .git/hooks .git/modules/module/hooks`;
  execFileSync('bash', ['-c', script], {
    cwd: path,
    ...(isRoot ? { uid: user.uid, gid: user.gid } : {}),
    // Without the samples of hooks, which would be most of the files.
    env: { PATH: programs(ground), HOME: path, GIT_TEMPLATE_DIR: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  chmodSync(path, 0o755);
  return join(path, 'work');
}
