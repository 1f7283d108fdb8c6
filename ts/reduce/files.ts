import {
  chmodSync,
  constants,
  copyFile,
  existsSync,
  join,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rm,
  rmSync,
  tmpdir,
} from '../core/builtins.ts';
import { loadNative } from '../core/native.ts';
import { type Whole, writeWhole } from './whole.ts';

/** Prefix of the directories' names. The rest of a name identifies the process. */
const PREFIX = 'agent-bash-out-';

/** The directories of this package that exist in this thread. */
const own = new Set<string>();

/**
 * The directory of a store. It has mode 0700 and is made with the first file. A directory of this package is in the
 * temporary directory, and this process or the next one removes it.
 */
export class OutputFiles {
  readonly #given: string | null;
  #path: string | null = null;

  /** `given`: the directory of the caller, which stays. */
  constructor(given: string | null) {
    this.#given = given;
  }

  /**
   * Writes an output to a new file, which has the next number that no file has. Rejects if it cannot be written whole,
   * and then leaves nothing.
   */
  async write(whole: Whole, next: () => number): Promise<{ id: number; path: string }> {
    // Outside of the loop: a file in the place of the directory is no file with the same number.
    const directory = this.#directory();
    for (;;) {
      const id = next();
      const path = join(directory, String(id));
      try {
        await writeWhole(path, whole);
        return { id, path };
      } catch (error) {
        // The directory of a caller may have files of an earlier process.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }

  /** Writes an output to the file with this number. Rejects if it cannot be written whole, and if the file exists. */
  async writeAs(id: number, whole: Whole): Promise<string> {
    const path = join(this.#directory(), String(id));
    await writeWhole(path, whole);
    return path;
  }

  /**
   * Takes a file over, which gets the next number that no file has. Its bytes are copied only if it is on another file
   * system. Rejects if it cannot be taken whole, and then leaves it where it was.
   */
  async take(path: string, next: () => number): Promise<{ id: number; path: string }> {
    const directory = this.#directory();
    for (;;) {
      const id = next();
      const place = join(directory, String(id));
      try {
        await moveFile(path, place);
        return { id, path: place };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }

  /** Returns the directory, which is made anew if it was deleted. Programs that tidy temporary directories do that. */
  #directory(): string {
    if (this.#path !== null && existsSync(this.#path)) return this.#path;
    if (this.#path !== null && this.#given === null) forgetOwn(this.#path);
    this.#path = this.#given === null ? makeOwn() : makeGiven(this.#given);
    return this.#path;
  }

  /** Returns whether a file with this number exists. The directory of a caller may have files of an earlier process. */
  has(id: number): boolean {
    const path = this.#path ?? this.#given;
    return path !== null && existsSync(join(path, String(id)));
  }

  /** Deletes a file, if it is still there. Throws if it cannot be deleted. */
  delete(path: string): void {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      // A file is in the place of the directory.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
    }
  }

  /** Removes the directory if it belongs to this package. */
  async close(): Promise<void> {
    const path = this.#path;
    this.#path = null;
    if (path === null || this.#given !== null) return;
    // A directory that cannot be removed now is tried again when the process exits.
    await rm(path, { recursive: true, force: true });
    forgetOwn(path);
  }
}

/** Gives a file another name that no file has. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    try {
      await copyFile(from, to, constants.COPYFILE_EXCL);
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(to, { force: true });
      throw failure;
    }
  }
  rmSync(from, { force: true });
}

/** Notes that a directory of this package is removed. */
function forgetOwn(path: string): void {
  own.delete(path);
  loadNative().removeNoMore(path);
  if (own.size === 0) process.removeListener('exit', removeAll);
}

function makeOwn(): string {
  const { ownName, removeLeft, removeAtEnd } = loadNative();
  removeLeft(tmpdir(), PREFIX);
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${ownName()}-`));
  if (own.size === 0) process.once('exit', removeAll);
  own.add(path);
  // The listener does not run if this process is killed.
  removeAtEnd(path);
  return path;
}

function removeAll(): void {
  for (const path of own) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // The process is exiting, so the error goes nowhere.
    }
  }
  own.clear();
}

function makeGiven(path: string): string {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(path, 0o700);
  return path;
}
