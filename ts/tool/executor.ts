import { BashError, type BashSession, bash } from 'agent-bash';
import type { BashRunner, BashToolOptions, ToolSandbox } from './types.ts';

/** What runs the commands of a call. */
export type Executor =
  /** `bash()`, here or on the target of the options. */
  | { readonly kind: 'bash' }
  /** The host's own function in place of `bash`. */
  | { readonly kind: 'host'; readonly run: BashRunner }
  | { readonly kind: 'sandbox'; readonly sandbox: ToolSandbox }
  | { readonly kind: 'session'; readonly session: BashSession }
  | { readonly kind: 'terminal'; readonly terminal: NonNullable<BashToolOptions['terminal']> };

/** Returns whether the commands of a call run in a sandbox, where nothing of this machine applies. */
export function isSandboxed(options: ExecutorOptions): boolean {
  return executorOf(options).kind === 'sandbox';
}

/** Returns whether the core runs the commands of a call and reads their output: not a host, a sandbox or a terminal. */
export function runsNatively(options: ExecutorOptions): boolean {
  const { kind } = executorOf(options);
  return kind === 'bash' || kind === 'session';
}

/** The options by which the executor is chosen. */
export type ExecutorOptions = Pick<BashToolOptions, 'run' | 'sandbox' | 'session' | 'terminal' | 'stdin'>;

/**
 * Chooses what runs the commands of a call: the first that is given of `run`, `sandbox`, `session` and `terminal`, else
 * `bash`. A command with `stdin` has no use for a terminal. Throws `ERR_BASH_INVALID_ARG` for a value that is none of
 * its kind. Values are checked by shape, not by class: another copy of this package may have created them.
 */
export function executorOf({ run, sandbox, session, terminal, stdin }: ExecutorOptions): Executor {
  if (terminal !== undefined) checkTerminal(terminal);
  if (run !== undefined) return run === bash ? { kind: 'bash' } : { kind: 'host', run };
  if (sandbox !== undefined) {
    const { run: runs, runCommand } = Object(sandbox) as { run?: unknown; runCommand?: unknown };
    if (typeof runs === 'function' || typeof runCommand === 'function') return { kind: 'sandbox', sandbox };
    throw new BashError('ERR_BASH_INVALID_ARG', 'sandbox: it has neither run, as a SandboxSession has, nor runCommand');
  }
  if (session !== undefined) {
    const { run: runs, options, cwd } = Object(session) as Partial<BashSession>;
    if (typeof runs === 'function' && typeof options === 'object' && typeof cwd === 'string') {
      return { kind: 'session', session };
    }
    throw new BashError('ERR_BASH_INVALID_ARG', 'session: it is not a BashSession');
  }
  const hasTerminal = terminal !== undefined && stdin === undefined && process.env.AGENT_BASH_NO_PTY !== '1';
  return hasTerminal ? { kind: 'terminal', terminal } : { kind: 'bash' };
}

function checkTerminal(terminal: unknown): void {
  const { onStart } = Object(terminal) as { onStart?: unknown };
  if (typeof terminal !== 'object' || terminal === null || (onStart !== undefined && typeof onStart !== 'function')) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'terminal: it is not an object of cols, rows, onStart');
  }
}
