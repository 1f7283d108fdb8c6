import { constants, existsSync } from 'node:fs';
import {
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';

/** Beginning of the names of folders in the making. The rest tells whose they are. */
export const PREFIX = 'making-';
/** Time between two signs of life of the process that makes a template, in ms. */
const SIGN_MS = 5_000;
/** Time without a sign after which a claim counts as left over, if its process cannot be seen from there, in ms. */
export const SILENT_MS = 60_000;

/** Folders of sessions and the files beside them, on this machine or on a target. Paths are absolute. */
export interface Folders {
  /** Time between two looks at what another session or process is making, in ms. */
  readonly lookMs: number;
  /** Returns the absolute path that the host means. */
  absolute(path: string): string;
  /** Makes a folder and those above it, for the user alone. One that exists is left as it is. */
  make(path: string): Promise<void>;
  /** Makes a folder for the user alone. Rejects if it exists. */
  makeNew(path: string): Promise<void>;
  /** Makes a folder in `dir` that nobody else takes for finished. Removes those of processes that were killed. */
  makeStaging(dir: string): Promise<string>;
  isThere(path: string): Promise<boolean>;
  /** Returns whether the path is a folder, and no link to one. */
  isFolder(path: string): Promise<boolean>;
  /** Renames a folder. Resolves with `false` if another one is there that is not empty. */
  claim(from: string, to: string): Promise<boolean>;
  /** Removes from the folder of a claim what has been left there by a process that is gone. */
  removeLeft(claimed: string): Promise<void>;
  /** Shows that the process of a claim is alive, as long as there is `inside`. */
  sign(folder: string, inside: string): Promise<void>;
  /** Copies the files of a folder into another one: links as they are, and no sockets or pipes. */
  copy(from: string, to: string): Promise<void>;
  /** Removes a folder or file with all that is in it, if it is there. */
  remove(path: string): Promise<void>;
  /** Removes a folder if nothing is in it. */
  removeEmpty(path: string): Promise<void>;
  /** Returns the text of a file; `null` if there is none. */
  read(path: string): Promise<string | null>;
  /** Replaces a file at once, for the user alone. */
  replace(path: string, text: string): Promise<void>;
}

/** The folders of this machine. */
export const FOLDERS_HERE: Folders = {
  lookMs: 20,
  absolute: (path) => resolve(path),

  async make(path) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },

  async makeNew(path) {
    await mkdir(path, { mode: 0o700 });
  },

  async makeStaging(dir) {
    const { ownName, removeLeft } = innerOf(bash);
    removeLeft(dir, PREFIX);
    return await mkdtemp(join(dir, `${PREFIX}${ownName()}-`));
  },

  async isThere(path) {
    return existsSync(path);
  },

  async isFolder(path) {
    const found = await lstat(path).catch(() => null);
    return found?.isDirectory() ?? false;
  },

  async claim(from, to) {
    try {
      await rename(from, to);
      return true;
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  },

  async removeLeft(claimed) {
    innerOf(bash).removeLeft(claimed, PREFIX);
    await removeSilent(claimed);
  },

  async sign(folder, inside) {
    if (existsSync(inside)) await utimes(folder, new Date(), new Date());
  },

  async copy(from, to) {
    const filter = async (path: string) => {
      const found = await lstat(path);
      return found.isFile() || found.isDirectory() || found.isSymbolicLink();
    };
    const mode = constants.COPYFILE_FICLONE;
    await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, mode, filter });
  },

  async remove(path) {
    await rm(path, { recursive: true, force: true });
  },

  async removeEmpty(path) {
    await rmdir(path).catch(() => {});
  },

  async read(path) {
    return existsSync(path) ? await readFile(path, 'utf8') : null;
  },

  async replace(path, text) {
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
  },
};

/**
 * Makes the folder `template` with `fill`, unless it exists. Only one session of all processes makes it, and the others
 * wait: the one whose folder has the name of the claim. A claim is free again once its process is gone. A process of
 * another container or machine cannot be seen: it counts as gone after a minute without a sign of life.
 */
export async function makeOnce(
  folders: Folders,
  dir: string,
  template: string,
  fill: (folder: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const claimed = `${template}.claim`;
  const own = await folders.makeStaging(dir);
  // No other claim has this name, so a claim that is left over is removed without harm to the next one.
  const inside = basename(own);
  await folders.makeNew(join(own, inside));
  try {
    while (!(await folders.isThere(template))) {
      signal?.throwIfAborted();
      await folders.removeLeft(claimed);
      await folders.sign(own, own);
      if (!(await folders.claim(own, claimed))) await pause(folders.lookMs);
      else await fillClaimed(folders, join(claimed, inside), template, fill);
    }
  } finally {
    await folders.remove(own);
  }
}

/** Removes a claim of another container or machine that shows no sign of life. */
async function removeSilent(claimed: string): Promise<void> {
  const names = await readdir(claimed).catch(() => []);
  // The time is read after the names. If another claim came in between, it is young, and nothing is removed.
  const found = await stat(claimed).catch(() => null);
  if (found === null || Date.now() - found.mtimeMs < SILENT_MS) return;
  const ours = placeOf(PREFIX + innerOf(bash).ownName());
  const others = names.filter((name) => placeOf(name) !== ours);
  await Promise.all(others.map((name) => rm(join(claimed, name), { recursive: true, force: true })));
}

/** Returns the boot and the container in the name of a folder in the making. */
function placeOf(name: string): string {
  return name.slice(PREFIX.length).replace(/-.*/, '').split('.').slice(2).join('.');
}

async function fillClaimed(
  folders: Folders,
  folder: string,
  template: string,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  // Without its folder the claim is that of another process by now.
  const signs = setInterval(() => folders.sign(dirname(folder), folder).catch(() => {}), SIGN_MS);
  try {
    // The template may have been finished before this claim.
    if (await folders.isThere(template)) return;
    await fill(folder);
    await folders.claim(folder, template);
  } finally {
    clearInterval(signs);
    await folders.remove(folder);
    await folders.removeEmpty(dirname(folder));
  }
}
