import { BashError, type BashResult, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { nothingRan } from '../../tool/call/judge.ts';
import { Commands } from '../shared/commands.ts';
import { changedEnvironment } from '../shared/environment.ts';
import { refusal, told, toldAfter } from '../shared/told.ts';
import type { Run } from '../shared/types.ts';

/** Runs the commands of pi's bash tool; pi's `BashOperations`. */
export interface PiOperations {
  /**
   * Runs a command to its end. Resolves with its exit code, 128 + n after a signal. Rejects with `Error('aborted')`,
   * with `Error('timeout:SECONDS')`, or with a `BashError` if nothing ran.
   *
   * @param cwd the directory to start in.
   * @param call.onData receives both streams in the order of writing, as whole characters without escape sequences.
   * @param call.timeout in seconds, positive and finite. Without it the adapter's own limit holds, or none.
   * @param call.env a copy of `process.env` with changes. Only the changes are taken.
   */
  exec(command: string, cwd: string, call: PiCall): Promise<{ exitCode: number | null }>;
}

/** A command of pi. */
export interface PiCall {
  onData: (data: Buffer) => void;
  signal?: AbortSignal | undefined;
  timeout?: number | undefined;
  env?: Record<string, string | undefined> | undefined;
}

/**
 * Makes operations for pi's own bash tool, which keeps its schema, its texts and its cuts. What a model must know of a
 * run besides its output follows the output, in brackets. Commands that still run end with this process.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for a mode or `onTimeout` of
 * `'background'`.
 *
 * @example createBashTool(cwd, { operations: piOperations({ confine: 'workspace', cwd }) });
 * @param options options of `bash()` for each command. An unfinished line is passed on at once, so progress lines are
 * not collapsed unless `sanitize` says so.
 */
export function piOperations(options: Run = {}): PiOperations {
  return operationsOf(new Commands('piOperations', options));
}

/** Returns the operations that run these commands. */
export function operationsOf(commands: Commands): PiOperations {
  return { exec: (command, cwd, call) => exec(commands, command, cwd, call) };
}

async function exec(commands: Commands, command: string, cwd: string, { onData, signal, timeout, env }: PiCall) {
  const { sanitize, spill } = commands.options;
  let last = '';
  const write = (text: string) => {
    last = text;
    onData(Buffer.from(text));
  };
  let result: BashResult;
  try {
    result = await commands.run(command, {
      cwd,
      signal,
      env: changedEnvironment(env),
      timeoutMs: limitOf(timeout),
      merge: true,
      sanitize: sanitize ?? { ansi: true, progress: 'keep' },
      spill: spill ?? false,
      onOutput: ({ text }) => write(text),
    });
  } catch (error) {
    if (signal?.aborted) throw new Error('aborted');
    const { code, findings, missing } = nothingRan(error, 'ERR_BASH_SPAWN');
    throw new BashError(code as BashError['code'], refusal(error), undefined, findings, missing);
  }
  const more = toldAfter(last, told(result, cwd, false));
  if (more !== '') write(more);
  if (result.status === 'aborted') throw new Error('aborted');
  if (result.status === 'timed-out') throw new Error(`timeout:${timeout ?? (result.timeoutMs ?? 0) / 1_000}`);
  return { exitCode: result.exitCode };
}

/** Returns a limit in ms. */
function limitOf(seconds: number | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!(Number.isFinite(seconds) && seconds > 0)) {
    throw new BashError('ERR_BASH_INVALID_ARG', `timeout: ${seconds} is not a positive, finite number of seconds`);
  }
  return Math.min(Math.ceil(seconds * 1_000), innerOf(bash).facts().request.maxLimitMs);
}
