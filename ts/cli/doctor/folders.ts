import { randomUUID } from 'node:crypto';
import { accessSync, closeSync, openSync, unlinkSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { bash, type Target } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { type Check, either, fine, missing } from './check.ts';

const MIB = 1024 ** 2;
const LITTLE_MIB = 256;

/** Returns the directory of what is kept for this user. */
export const stateFolder = () => join(process.env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'agent-bash');

/** Checks the default registry's directory, which is created on first use. */
export async function state(): Promise<Check> {
  const folder = stateFolder();
  try {
    await access(await existing(folder), constants.W_OK);
    return fine('state-folder', folder);
  } catch (error) {
    return missing('state-folder', (error as Error).message, WITHOUT_STATE);
  }
}

const WITHOUT_STATE =
  'mode "background" fails without a registry of its own, and so do ps, logs and kill without --dir';

/** Checks the same on a target. */
export async function stateOn(target: Target): Promise<Check> {
  const folder = innerOf(bash).registryDirectory(target);
  const nearest = 'dir=$1; until [ -e "$dir" ]; do dir=${dir%/*}; done; [ -w "${dir:-/}" ]';
  const { exitCode } = await bash(nearest, { target, args: [folder] });
  return exitCode === 0
    ? fine('state-folder', folder)
    : missing('state-folder', `${folder} cannot be made`, WITHOUT_STATE);
}

/** Returns the nearest existing parent directory. */
export async function existing(folder: string): Promise<string> {
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
  let runs: boolean;
  try {
    runs = takesPrograms(folder);
  } catch (error) {
    return missing('temporary-folder', (error as Error).message, WITHOUT_TEMPORARY);
  }
  const { bavail, bsize } = await statfs(folder);
  return judged(folder, Math.floor((bavail * bsize) / MIB), runs);
}

/** Prints the temporary directory, the free space in KiB, and whether it allows execution. */
const TRIED = `dir=\${TMPDIR:-/tmp} && file=$(mktemp "$dir/agent-bash-doctor-XXXXXX") || exit
trap 'rm -f "$file"' EXIT
chmod 700 "$file"; [ -x "$file" ] && runs=yes || runs=no
free=$(df -Pk "$dir" | { read -r line; read -r _ _ _ free _; echo "$free"; })
printf '%s\\n' "$dir" "$free" "$runs"`;

/** Checks the same on a target. */
export async function temporaryOn(target: Target): Promise<Check> {
  const { stdout, stderr, exitCode } = await bash(TRIED, { target });
  if (exitCode !== 0) return missing('temporary-folder', stderr.trim(), WITHOUT_TEMPORARY);
  const [folder = '', free = '', runs] = stdout.split('\n');
  return judged(folder, Math.floor(Number(free) / 1_024), runs === 'yes');
}

const WITHOUT_TEMPORARY = 'output that does not fit into a result has no file';

function judged(folder: string, free: number, runs: boolean): Check {
  if (free < LITTLE_MIB) {
    return missing('temporary-folder', `${folder}, ${free} MiB free`, 'the files of long output may not be whole');
  }
  return either(
    runs,
    'temporary-folder',
    `${folder}, ${free} MiB free${runs ? '' : ', mounted noexec'}`,
    'commands that run what they have put there fail with «Permission denied», as some installers do',
  );
}

/**
 * Returns whether a new file of the directory could be run. Throws if no file can be made. The file exists only for a
 * moment, without a turn of the event loop, so that a killed process leaves none.
 */
function takesPrograms(folder: string): boolean {
  const file = join(folder, `agent-bash-doctor-${randomUUID()}`);
  closeSync(openSync(file, 'wx', 0o700));
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    unlinkSync(file);
  }
}
