import { posix } from 'node:path';
import { BashError, type BashOptions, bash } from 'agent-bash';
import { INNER, type Inner } from '../../inner.ts';
import type { BashToolOptions } from '../types.ts';
import type { ToolSandbox, ToolSandboxSession } from './types.ts';

/** How the folder and the home of a sandbox are called when a command is judged: what they are there is not known here. */
const FOLDER = '/sandbox';
const HOME = '/sandbox-home';

/** Options that would change what a command does or may do, and that no sandbox can be told of. */
const NOT_THERE = ['args', 'stdin', 'merge', 'shell', 'limits'] as const;

/**
 * The sandbox that commands run in; `undefined` where they run on this machine. What takes the place of `bash` takes its place, too.
 * Throws `ERR_BASH_INVALID_ARG` for one that is none.
 */
export function sandboxOf({ run, sandbox }: Pick<BashToolOptions, 'run' | 'sandbox'>): ToolSandbox | undefined {
  if (sandbox === undefined || run !== undefined) return undefined;
  if (isSession(sandbox) || typeof Object(sandbox).runCommand === 'function') return sandbox;
  throw new BashError('ERR_BASH_INVALID_ARG', 'sandbox: it has neither run, as a SandboxSession has, nor runCommand');
}

/** Whether it is a `SandboxSession`. One that has both is taken as that: its output comes while the command runs. */
export function isSession(sandbox: ToolSandbox): sandbox is ToolSandboxSession {
  return typeof Object(sandbox).run === 'function';
}

/** The folder of a call in a sandbox; `undefined` is the sandbox's own. It is looked at there and nowhere else. */
export function folderThere(folder: string | undefined, asked: string | null | undefined): string | undefined {
  // A value that is no path stays, and the run names it as wrong.
  if (asked == null || asked === '' || (folder !== undefined && typeof folder !== 'string')) return folder;
  return folder === undefined || posix.isAbsolute(asked) ? asked : posix.join(folder, asked);
}

/** The options that a command is judged by: nothing of this machine is there. */
export function judgedThere(options: BashOptions): BashOptions {
  const { cwd, env } = options;
  return {
    ...options,
    cwd: typeof cwd === 'string' ? posix.resolve(FOLDER, cwd) : FOLDER,
    inheritEnv: 'none',
    env: { HOME, ...env },
  };
}

/** Refuses what `bash` would, and what cannot be had there: running the command without it would be another command. */
export function checkThere(command: string, options: BashOptions): void {
  (bash as unknown as { [INNER]: Inner })[INNER].check(command, options);
  const given = NOT_THERE.filter((name) => options[name] !== undefined);
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

/** What is said to a model that asks for a task of this machine. */
export const NO_TASKS =
  'check_pid and kill_pid know no processes of this sandbox: look at them and end them with commands (ps, kill)';

/** What of the tool's options a sandbox takes the place of. */
export function leftOut({ session, terminal }: BashToolOptions): string[] {
  const left = [session && 'session', terminal && 'terminal'].filter((name) => name !== undefined);
  return left.map((name) => `the command ran in the sandbox and not in the ${name} of this tool`);
}
