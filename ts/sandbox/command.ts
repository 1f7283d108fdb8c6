import { constants } from 'node:os';
import type { Base } from './base.ts';
import { invalid } from './errors.ts';
import { guarded, Output } from './output.ts';
import { type Ended, type Started, start } from './start.ts';
import type { CommandFinished, DetachedCommand, RunParams } from './types.ts';

/** The shell is replaced by the program: its arguments are the shell's, so nothing is quoted, and its pid is the shell's. */
const REPLACE = 'exec -- "$@"';

/** The longest argument that Linux takes; `bash` runs longer commands all the same. */
const LONGEST_ARGUMENT = 131_071;

/** A program that was started, and how it looks to its caller at its end. */
export interface StartedProgram extends Started {
  finished(ended: Ended): CommandFinished;
}

/** Starts a program with a sandbox's options. With `tellPid` the pid is known while it runs, else only `null`. */
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
  return { ...started, finished: ({ exitCode }) => output.finished(exitCode) };
}

/** The handle of a program that goes on by itself. Resolves once it has been started. */
export async function detached({ pid, ended, abort, finished }: StartedProgram): Promise<DetachedCommand> {
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
      const number = signalNumber(signal);
      if (!running || group === null) return;
      try {
        process.kill(-group, number);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
  };
}

/** The command of `bash -c COMMAND $0 $1…`, if it is too long to be an argument: the shell itself can be given it. */
function longCommand({ cmd, args = [] }: RunParams): { command: string; args: string[] } | null {
  const [flag, command = '', , ...positional] = args;
  if (cmd !== 'bash' || flag !== '-c' || Buffer.byteLength(command) <= LONGEST_ARGUMENT) return null;
  return { command, args: positional };
}

/** Checks what a caller asked to run. */
export function checked(params: RunParams): RunParams {
  if (typeof params !== 'object' || params === null) throw invalid('runCommand takes a program or { cmd, args, … }');
  const { cmd, args, cwd, env, signal } = params;
  if (typeof cmd !== 'string') throw invalid('cmd must be a string');
  if (args !== undefined && !(Array.isArray(args) && args.every((each) => typeof each === 'string')))
    throw invalid('args must be an array of strings');
  checkSetting({ cwd, env, signal }, 'cwd', 'signal');
  return params;
}

/** Checks where and with what a command is to run, each by the name that the caller knows it by. */
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

function signalNumber(name: string): number {
  const signals: Record<string, number> = constants.signals;
  const number = signals[name] ?? signals[`SIG${name}`];
  if (number === undefined) throw invalid(`unknown signal: ${name}`);
  return number;
}
