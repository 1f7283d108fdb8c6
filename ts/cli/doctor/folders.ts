import { execFile } from 'node:child_process';
import { access, constants, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Check, either, fine, missing } from './check.ts';

const MIB = 1024 ** 2;
const LITTLE_MIB = 256;

/** Checks the default registry's directory, which is created on first use. */
export async function state(): Promise<Check> {
  const folder = join(process.env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'agent-bash');
  const cost = 'mode "background" fails without a registry of its own, and so do ps, logs and kill without --dir';
  try {
    await access(await existing(folder), constants.W_OK);
    return fine('state-folder', folder);
  } catch (error) {
    return missing('state-folder', (error as Error).message, cost);
  }
}

/** Returns the nearest existing parent directory. */
async function existing(folder: string): Promise<string> {
  try {
    await access(folder);
    return folder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === dirname(folder)) throw error;
    return existing(dirname(folder));
  }
}

/** Checks that the temporary directory has space and allows execution. */
export async function temporary(): Promise<Check> {
  const folder = process.env.TMPDIR || '/tmp';
  let own: string;
  try {
    own = await mkdtemp(join(folder, 'agent-bash-doctor-'));
  } catch (error) {
    return missing('temporary-folder', (error as Error).message, 'output that does not fit into a result has no file');
  }
  try {
    const { bavail, bsize } = await statfs(own);
    const free = Math.floor((bavail * bsize) / MIB);
    if (free < LITTLE_MIB) {
      return missing('temporary-folder', `${folder}, ${free} MiB free`, 'the files of long output may not be whole');
    }
    const runs = await isRunnable(join(own, 'script'));
    return either(
      runs,
      'temporary-folder',
      `${folder}, ${free} MiB free${runs ? '' : ', mounted noexec'}`,
      'commands that run what they have put there fail with «Permission denied», as some installers do',
    );
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function isRunnable(file: string): Promise<boolean> {
  await writeFile(file, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
  return promisify(execFile)(file).then(
    () => true,
    () => false,
  );
}
