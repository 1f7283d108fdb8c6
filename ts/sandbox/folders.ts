import { constants, existsSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, readdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';

/** Beginning of the names of folders in the making. The rest tells whose they are. */
const PREFIX = 'making-';
/** Time between two looks at what another session or process is making, in ms. */
const LOOK_MS = 20;
/** Time between two signs of life of the process that makes a template, in ms. */
const SIGN_MS = 5_000;
/** Time without a sign after which a claim counts as left over, if its process cannot be seen from here, in ms. */
const SILENT_MS = 60_000;

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
 * wait: the one whose folder has the name of the claim. A claim is free again once its process is gone. A process of
 * another container or machine cannot be seen: it counts as gone after a minute without a sign of life.
 */
export async function makeOnce(
  dir: string,
  template: string,
  fill: (folder: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { removeLeft } = innerOf(bash);
  const claimed = `${template}.claim`;
  const own = await makeStaging(dir);
  // No other claim has this name, so a claim that is left over is removed without harm to the next one.
  const inside = basename(own);
  await mkdir(join(own, inside), { mode: 0o700 });
  try {
    while (!existsSync(template)) {
      signal?.throwIfAborted();
      removeLeft(claimed, PREFIX);
      await removeSilent(claimed);
      await sign(own);
      if (!(await claim(own, claimed))) await pause(LOOK_MS);
      else await fillClaimed(join(claimed, inside), template, fill).finally(() => rmdir(claimed).catch(() => {}));
    }
  } finally {
    await rm(own, { recursive: true, force: true });
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

/** Shows that the process of a claim is alive. */
async function sign(folder: string): Promise<void> {
  await utimes(folder, new Date(), new Date());
}

async function fillClaimed(folder: string, template: string, fill: (folder: string) => Promise<void>): Promise<void> {
  // Without its folder the claim is that of another process by now.
  const signs = setInterval(() => existsSync(folder) && sign(dirname(folder)).catch(() => {}), SIGN_MS);
  try {
    // The template may have been finished before this claim.
    if (existsSync(template)) return;
    await fill(folder);
    await rename(folder, template);
  } finally {
    clearInterval(signs);
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
