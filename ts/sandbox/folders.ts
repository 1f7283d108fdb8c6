import { constants, existsSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';

/** Beginning of the names of folders in the making. The rest tells whose they are. */
const PREFIX = 'making-';
/** Time between two looks at what another session or process is making, in ms. */
const LOOK_MS = 20;

/** Makes a folder in `dir` that nobody else takes for finished. Removes those of processes that were killed. */
export async function makeStaging(dir: string): Promise<string> {
  const { ownName, removeLeft } = innerOf(bash);
  removeLeft(dir, PREFIX);
  return await mkdtemp(join(dir, `${PREFIX}${ownName()}-`));
}

/** Renames a folder. Resolves with `false` if another one is there that is not empty. */
export async function claim(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/**
 * Makes the folder `template` with `fill`, unless it exists. Only one session of all processes makes it, and the others
 * wait: the one whose folder has the name of the claim.
 */
export async function makeOnce(
  dir: string,
  template: string,
  fill: (folder: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { ownName, removeLeft } = innerOf(bash);
  const claimed = `${template}.claim`;
  const inside = `${PREFIX}${ownName()}-0`;
  const own = await makeStaging(dir);
  await mkdir(join(own, inside), { mode: 0o700 });
  try {
    while (!existsSync(template)) {
      signal?.throwIfAborted();
      removeLeft(claimed, PREFIX);
      if (!(await claim(own, claimed))) await pause(LOOK_MS);
      else await fillClaimed(join(claimed, inside), template, fill).finally(() => rmdir(claimed).catch(() => {}));
    }
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function fillClaimed(folder: string, template: string, fill: (folder: string) => Promise<void>): Promise<void> {
  try {
    // The template may have been finished before this claim.
    if (existsSync(template)) return;
    await fill(folder);
    await rename(folder, template);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies the files of a folder into another one: links as they are, and no sockets or pipes. */
export async function copyFiles(from: string, to: string): Promise<void> {
  const filter = async (path: string) => {
    const found = await lstat(path);
    return found.isFile() || found.isDirectory() || found.isSymbolicLink();
  };
  const mode = constants.COPYFILE_FICLONE;
  await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, mode, filter });
}
