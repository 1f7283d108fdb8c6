import { bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import type { Base } from './base.ts';
import { invalid } from './errors.ts';
import { type Ended, guarded, Output } from './output.ts';
import type { Processes } from './processes.ts';
import { type Started, start } from './start.ts';
import type { CommandFinished, DetachedCommand, RunParams } from './types.ts';

/**
 * The program replaces the shell. It receives the shell's arguments, so nothing is quoted, and its pid is the shell's.
 */
const REPLACE = 'exec -- "$@"';

/** The longest argument that Linux accepts. `bash` runs longer commands too. */
const LONGEST_ARGUMENT = 131_071;

/** A program that was started, and its result in the caller's shape. */
export interface StartedProgram extends Started {
  finished(ended: Ended): CommandFinished;
}

/** Starts a program with a sandbox's options. With `tellPid` its pid is known while it runs; otherwise it is `null`. */
export function startProgram(base: Base, params: RunParams, tellPid: boolean): StartedProgram {
  const output = new Output();
  const tellCaller = guarded(base.onOutput);
  const long = longCommand(params);
  const started = start(base, {
    command: long?.command ?? REPLACE,
    args: long ? long.args : [params.cmd, ...(params.args ?? [])],
    cwd: params.cwd,
    env: params.env,
    signal: params.signal,
    onOutput: (chunk) => {
      output.add(chunk);
      return base.onOutput && tellCaller(chunk);
    },
    ...(tellPid && { streams: { bytes: false, fed: false, over: () => {} } }),
  });
  return { ...started, finished: (end) => output.finished(end) };
}

/** Returns the handle of a detached program. Resolves once it has started. */
export async function detached(
  { pid, ended, abort, finished }: StartedProgram,
  processes: Processes,
): Promise<DetachedCommand> {
  let running = true;
  const done = ended.then(finished);
  const settle = () => {
    running = false;
  };
  const over = done.then(settle, settle);
  const group = await pid;
  return {
    wait: () => done,
    async kill(signal) {
      if (signal === undefined) {
        abort();
        await over;
        return;
      }
      const number = typeof signal === 'string' ? innerOf(bash).signalOf(signal)?.number : undefined;
      if (number === undefined) throw invalid(`unknown signal: ${signal}`);
      if (!running || group === null) return;
      await processes.signalGroup(group, number);
    },
  };
}

/**
 * Returns the command of `bash -c COMMAND $0 $1…` if it is too long for an argument and must go to the shell another
 * way.
 */
function longCommand({ cmd, args = [] }: RunParams): { command: string; args: string[] } | null {
  const [flag, command = '', , ...positional] = args;
  if (cmd !== 'bash' || flag !== '-c' || Buffer.byteLength(command) <= LONGEST_ARGUMENT) return null;
  return { command, args: positional };
}

/** Checks the arguments of a caller. */
export function checked(params: RunParams): RunParams {
  if (typeof params !== 'object' || params === null) throw invalid('runCommand takes a program or { cmd, args, … }');
  const { cmd, args, cwd, env, signal } = params;
  if (typeof cmd !== 'string') throw invalid('cmd must be a string');
  if (args !== undefined && !(Array.isArray(args) && args.every((each) => typeof each === 'string')))
    throw invalid('args must be an array of strings');
  checkSetting({ cwd, env, signal }, 'cwd', 'signal');
  return params;
}

/** Checks a command's directory and variables, each under the name that the caller knows. */
export function checkSetting(
  given: { cwd?: unknown; env?: unknown; signal?: unknown },
  cwdName: string,
  signalName: string,
): void {
  const { cwd, env, signal } = given;
  if (cwd !== undefined && typeof cwd !== 'string') throw invalid(`${cwdName} must be a string`);
  if (env !== undefined && (typeof env !== 'object' || env === null)) throw invalid('env must be an object');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid(`${signalName} must be an AbortSignal`);
}
