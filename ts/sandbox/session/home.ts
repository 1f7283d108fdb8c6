import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { INNER, type Inner } from '../../inner.ts';
import { failure } from '../errors.ts';

/** How old the folder of a host that was killed, with all of its helpers, has to be before another host removes it, in ms. */
const FORGOTTEN_MS = 60 * 60 * 1000;

/** The folders of this thread that are there now. */
const homes = new Set<string>();
/** Those that commands use: nobody else may know them any more. */
const used = new Set<PrivateHome>();
const forgotten = new FinalizationRegistry<{ path: string | null }>((held) => void remove(held).catch(() => {}));

/** A home folder for the commands of one session: 0700, below the temporary folder, made when the first command needs it. */
export class PrivateHome {
  // Apart from this object, so that it is known when nobody has that any more.
  readonly #held: { path: string | null } = { path: null };
  #uses = 0;

  constructor() {
    forgotten.register(this, this.#held);
  }

  /** Its path; it is there. Throws where it cannot be made. */
  get path(): string {
    const { path } = this.#held;
    if (path !== null && existsSync(path)) return path;
    const made = make();
    this.#held.path = made;
    return made;
  }

  /** Is there until then, also when nobody has the session any more. */
  keepUntil(end: Promise<unknown>): void {
    used.add(this);
    this.#uses += 1;
    const done = () => {
      this.#uses -= 1;
      if (this.#uses === 0) used.delete(this);
    };
    end.then(done, done);
  }

  /** Removes it with all that is in it; a later command gets another one. */
  remove(): Promise<void> {
    return remove(this.#held);
  }
}

function make(): string {
  sweep();
  let path: string;
  try {
    path = mkdtempSync(join(tmpdir(), `${prefix()}${process.pid}-`));
  } catch (error) {
    const { code = 'EIO', message } = error as NodeJS.ErrnoException;
    throw failure(code, `no private home folder could be made, give the session one as «home»: ${message}`);
  }
  if (homes.size === 0) process.once('exit', removeAll);
  homes.add(path);
  inner().removeAtEnd(path);
  return path;
}

function inner(): Inner {
  return (bash as unknown as { [INNER]: Inner })[INNER];
}

/** The same for every host on this machine: containers can share a temporary folder, and each has pids of its own. */
function prefix(): string {
  return `agent-bash-home-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-`;
}

async function remove(held: { path: string | null }): Promise<void> {
  const { path } = held;
  held.path = null;
  if (path === null) return;
  // What cannot be removed now is tried once more at the end of the process.
  await rm(path, { recursive: true, force: true });
  homes.delete(path);
  inner().removeNoMore(path);
  if (homes.size === 0) process.removeListener('exit', removeAll);
}

function removeAll(): void {
  for (const path of homes) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Nobody is left to be told.
    }
  }
  homes.clear();
}

/** A host that is killed with all of its helpers leaves its folders; nobody else does. */
function sweep(): void {
  const own = prefix();
  const folder = tmpdir();
  for (const name of namesIn(folder)) {
    const pid = name.startsWith(own) ? Number.parseInt(name.slice(own.length), 10) : 0;
    if (!(pid > 0) || isAlive(pid)) continue;
    const path = join(folder, name);
    try {
      const { uid, mtimeMs } = lstatSync(path);
      if (uid === process.getuid?.() && Date.now() - mtimeMs > FORGOTTEN_MS) {
        rmSync(path, { recursive: true, force: true });
      }
    } catch {
      // Another one may sweep at the same time, and what cannot be swept now is no reason not to run.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
