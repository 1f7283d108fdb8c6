import { posix } from 'node:path';
import { BashError, type BashOptions, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { BashToolOptions, ToolSandbox, ToolSandboxSession } from '../types.ts';

/** Stand-ins for a sandbox's directory and home while a command is judged: the real paths are unknown here. */
const FOLDER = '/sandbox';
const HOME = '/sandbox-home';

/** Options that affect a command and that a sandbox does not support. */
const NOT_THERE = ['args', 'stdin', 'merge', 'shell', 'limits', 'target'] as const;

/**
 * Returns whether the sandbox is a `SandboxSession`. An object with both interfaces counts as one, because `spawn`
 * streams its output.
 */
export function isSession(sandbox: ToolSandbox): sandbox is ToolSandboxSession {
  return typeof Object(sandbox).run === 'function';
}

/**
 * Returns the directory of a call in a sandbox, or `undefined` for the sandbox's own. The path is only checked in the
 * sandbox.
 */
export function sandboxDirectory(folder: string | undefined, asked: string | null | undefined): string | undefined {
  // A value that is not a path is returned unchanged; the run then rejects it by name.
  if (asked == null || asked === '' || (folder !== undefined && typeof folder !== 'string')) return folder;
  return folder === undefined || posix.isAbsolute(asked) ? asked : posix.join(folder, asked);
}

/** Returns the options for judging a command. Nothing of this machine applies in a sandbox. */
export function sandboxJudgement<T extends Pick<BashOptions, 'cwd' | 'env'>>(options: T): T {
  const { cwd, env } = options;
  return {
    ...options,
    cwd: typeof cwd === 'string' ? posix.resolve(FOLDER, cwd) : FOLDER,
    inheritEnv: 'none',
    env: { HOME, ...env },
  };
}

/**
 * Refuses commands that `bash` refuses, and options that the sandbox cannot honour. Running the command without these
 * options would change it.
 */
export function checkSandboxOptions(command: string, options: BashOptions): void {
  innerOf(bash).check(command, options);
  const given: string[] = NOT_THERE.filter((name) => options[name] !== undefined);
  // The sandbox confines the commands that run in it, and records their changes.
  for (const name of ['confine', 'receipt', 'undo'] as const) {
    if (options[name] !== undefined && options[name] !== 'off') given.push(name);
  }
  if (options.mode === 'background') {
    throw new BashError(
      'ERR_BASH_UNSUPPORTED',
      'mode "background" does not work in this sandbox: start what is to go on with «&», its output sent to a file',
    );
  }
  if (given.length > 0) {
    throw new BashError('ERR_BASH_UNSUPPORTED', `in a sandbox there is no ${given.join(', ')}`);
  }
}

/** The answer to a model that asks for a background task of this machine. */
export const NO_TASKS =
  'check_pid, kill_pid and wait_pid know no processes of this sandbox: look at them and end them with commands (ps, kill)';

/** Returns a note for each of the tool's options that a sandbox overrides. */
export function overriddenOptions({ session, terminal }: BashToolOptions): string[] {
  const left = [session && 'session', terminal && 'terminal'].filter((name) => name !== undefined);
  return left.map((name) => `the command ran in the sandbox and not in the ${name} of this tool`);
}
