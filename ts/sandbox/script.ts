import { bash, type Target } from 'agent-bash';
import { failure, lostError } from './errors.ts';

/** The most of each stream that is kept, in UTF-16 units. */
const MOST_KEPT = 16 * 1024 * 1024;

/** How a script of ours has ended. */
export interface ScriptEnd {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a script of ours on a target, outside of every confinement, to its end. Text that is no UTF-8 comes as U+FFFD.
 * Rejects if the target is lost meanwhile.
 */
export async function runScriptOn(target: Target, script: string, args: readonly string[]): Promise<ScriptEnd> {
  const kept = { stdout: '', stderr: '' };
  const { exitCode } = await bash(script, {
    target,
    args: [...args],
    env: { LC_ALL: 'C' },
    confine: 'off',
    safety: 'off',
    ledger: false,
    mode: 'slow',
    onTimeout: 'kill',
    sanitize: false,
    spill: false,
    // All output arrives at the listener.
    truncate: { keep: 'tail', maxBytes: 1 },
    onOutput: ({ stream, text }) => {
      if (kept[stream].length < MOST_KEPT) kept[stream] += text;
    },
  });
  if (exitCode === null) throw lostError(target.id, 'what was asked of it may have been done, or not');
  return { exitCode, ...kept };
}

/** Returns what a script has written. Rejects if it has failed. */
export async function answerOf(target: Target, script: string, args: readonly string[], what: string): Promise<string> {
  const { exitCode, stdout, stderr } = await runScriptOn(target, script, args);
  if (exitCode === 0) return stdout;
  throw failure(codeOf(stderr) ?? 'EIO', `${what} on ${target.id}: ${stderr.trim() || `exit code ${exitCode}`}`);
}

/** The words of the system in the locale C, and the codes that Node has for them. */
const CODES: readonly (readonly [words: string, code: string])[] = [
  ['Read-only file system', 'EROFS'],
  ['Permission denied', 'EACCES'],
  ['Operation not permitted', 'EPERM'],
  ['Is a directory', 'EISDIR'],
  ['Not a directory', 'ENOTDIR'],
  ['No such file or directory', 'ENOENT'],
  ['File exists', 'EEXIST'],
  ['No space left on device', 'ENOSPC'],
  ['File name too long', 'ENAMETOOLONG'],
  ['Too many levels of symbolic links', 'ELOOP'],
];

/** Returns the code of what a program has complained of. */
export function codeOf(stderr: string): string | undefined {
  return CODES.find(([words]) => stderr.includes(words))?.[1];
}
