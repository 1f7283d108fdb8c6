import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bash, safetyRules, type Target } from 'agent-bash';
import levels from '../../../npm/levels.json';
import { type Inner, innerOf } from '../../core/inner.ts';
import { type Check, failed, fine, missing } from './check.ts';

const require = createRequire(import.meta.url);
const NOTHING_RUNS = 'no command runs';
/** An unusual exit code tells the command's own exit from other failures. */
const CODE = 7;

/** Checks the version of Node. */
export function node(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const found = `${process.version}, ${process.execPath}`;
  if (major > 20 || (major === 20 && minor >= 17)) return fine('node', found);
  return missing('node', found, 'nothing is promised below Node 20.17');
}

/** Checks that the addon loads, and reports its build. */
export function addon(): Check {
  try {
    safetyRules();
  } catch (error) {
    return failed('addon', (error as Error).message, NOTHING_RUNS);
  }
  const file = addonFile() ?? 'loaded';
  const found = [file, libc()].filter((part) => part !== '').join(', ');
  const platform = /\.([^.]+)\.node$/.exec(file)?.[1] ?? '';
  const level = (levels as Record<string, string>)[platform];
  if (level !== 'built') return fine('addon', found);
  return missing(
    'addon',
    found,
    `the build for ${platform} was compiled and has not passed all tests: it is experimental`,
  );
}

/** Returns the kernel's capabilities, or `null` if the addon cannot be asked. */
export function askKernel(): ReturnType<Inner['offers']> | null {
  try {
    return innerOf(bash).offers();
  } catch {
    return null;
  }
}

/** Returns whether the kernel is gVisor. */
export function isGvisor(): boolean {
  return askKernel()?.gvisor ?? false;
}

/** Returns the path of the supervisor, beside the addon. */
export function supervisorFile(): string {
  return join(dirname(addonFile() ?? ''), 'agent-bash-supervisor');
}

/** Checks the supervisor, which lies beside the addon. */
export function supervisor(): Check {
  const file = supervisorFile();
  try {
    accessSync(file, constants.X_OK);
    return fine('supervisor', file);
  } catch (error) {
    return failed('supervisor', (error as Error).message, `${NOTHING_RUNS}: install the package again`);
  }
}

/** Checks that a command runs, and reports its bash. */
export async function shell(target?: Target): Promise<Check> {
  try {
    const command = `printf '%s\\n' "$BASH_VERSION" "$BASH"; exit ${CODE}`;
    const { stdout, exitCode, status } = await bash(command, { target });
    const [version = '', path = ''] = stdout.split('\n');
    if (exitCode !== CODE)
      return failed('bash', `a command ended with ${exitCode} (${status}), not ${CODE}`, NOTHING_RUNS);
    if (Number.parseInt(version, 10) >= 4) return fine('bash', `${version}, ${path}`);
    return missing(
      'bash',
      `${version}, ${path}`,
      'commands that need bash 4 fail: associative arrays, mapfile, ${name,,}',
    );
  } catch (error) {
    return failed('bash', (error as Error).message, NOTHING_RUNS);
  }
}

function addonFile(): string | undefined {
  return Object.keys(require.cache).find((file) => file.endsWith('.node'));
}

function libc(): string {
  if (process.platform !== 'linux') return '';
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime ? `glibc ${header.glibcVersionRuntime}` : 'musl';
}
