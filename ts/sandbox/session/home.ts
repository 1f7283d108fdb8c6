import { existsSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { type Inner, innerOf } from '../../core/inner.ts';
import { failure } from '../errors.ts';

/** The directories that exist in this thread. */
const homes = new Set<string>();
/** Homes that commands use. This set may hold the last reference to one. */
const used = new Set<PrivateHome>();
const forgotten = new FinalizationRegistry<{ path: string | null }>((held) => void remove(held).catch(() => {}));

/**
 * A private directory, by default the home of the commands of one session. It has mode 0700, lies in the temporary
 * directory, and is created when it is first needed.
 */
export class PrivateHome {
  // Separate from this object, so that the finalizer knows the path after the object is collected.
  readonly #held: { path: string | null } = { path: null };
  readonly #option: 'home' | 'dir';
  #uses = 0;

  /** `option` is the one that gives another directory. It is part of the name. */
  constructor(option: 'home' | 'dir' = 'home') {
    this.#option = option;
    forgotten.register(this, this.#held);
  }

  /** The path of an existing directory. Throws if it cannot be created. */
  get path(): string {
    const { path } = this.#held;
    if (path !== null && existsSync(path)) return path;
    const made = make(this.#option);
    this.#held.path = made;
    return made;
  }

  /** Keeps the directory until then, even if the session is collected. */
  keepUntil(end: Promise<unknown>): void {
    used.add(this);
    this.#uses += 1;
    const done = () => {
      this.#uses -= 1;
      if (this.#uses === 0) used.delete(this);
    };
    end.then(done, done);
  }

  /** Removes the directory if nothing is in it. A later command gets another directory. */
  removeEmpty(): void {
    const { path } = this.#held;
    if (path === null) return;
    try {
      rmdirSync(path);
    } catch {
      return;
    }
    this.#held.path = null;
    forget(path);
  }

  /** Removes the directory with its content. A later command gets another directory. */
  remove(): Promise<void> {
    return remove(this.#held);
  }
}

function make(option: string): string {
  // The rest of the name tells whose it is.
  const prefix = `agent-bash-${option}-`;
  inner().removeLeft(tmpdir(), prefix);
  let path: string;
  try {
    path = mkdtempSync(join(tmpdir(), `${prefix}${inner().ownName()}-`));
  } catch (error) {
    const { code = 'EIO', message } = error as NodeJS.ErrnoException;
    throw failure(code, `no private directory could be made, give one as «${option}»: ${message}`);
  }
  if (homes.size === 0) process.once('exit', removeAll);
  homes.add(path);
  inner().removeAtEnd(path);
  return path;
}

function inner(): Inner {
  return innerOf(bash);
}

async function remove(held: { path: string | null }): Promise<void> {
  const { path } = held;
  held.path = null;
  if (path === null) return;
  // A directory that cannot be removed now is tried again when the process exits.
  await rm(path, { recursive: true, force: true });
  forget(path);
}

/** Forgets a directory that is gone. */
function forget(path: string): void {
  homes.delete(path);
  inner().removeNoMore(path);
  if (homes.size === 0) process.removeListener('exit', removeAll);
}

function removeAll(): void {
  for (const path of homes) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process is exiting, so the error goes nowhere.
    }
  }
  homes.clear();
}
