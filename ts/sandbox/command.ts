import { constants } from 'node:os';
import { resolve } from 'node:path';
import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { invalid } from './errors.ts';
import { guarded, Output, withoutFirstLine } from './output.ts';
import type { CommandFinished, DetachedCommand, RunParams } from './types.ts';

/** The shell is replaced by the program: its arguments are the shell's, so nothing is quoted, and its pid is the shell's. */
const REPLACE = 'exec -- "$@"';
const TELL_PID_AND_REPLACE = `printf '%s\\n' "$$"; ${REPLACE}`;

/** The longest argument that Linux takes; `bash` runs longer commands all the same. */
const LONGEST_ARGUMENT = 131_071;

/** A day, the longest limit there is: as good as none. */
const NO_LIMIT_MS = 86_400_000;

/** A program that was started and has not ended yet. */
export interface Started {
  /** Resolves with the first of: its pid, `null` if it ended without telling; rejects when nothing could be run. */
  pid: Promise<number | null>;
  ended: Promise<{ finished: CommandFinished; survivors: BashResult['survivors'] }>;
  /** Ends it as its signal would. */
  abort(): void;
}

/** Starts a program with a sandbox's options. With `tellPid` the pid is known while it runs, else only `null`. */
export function start(sandbox: Partial<BashOptions> & { cwd: string }, params: RunParams, tellPid: boolean): Started {
  const output = new Output();
  const tellCaller = guarded(sandbox.onOutput);
  const collect = (chunk: { stream: 'stdout' | 'stderr'; text: string }) => {
    output.add(chunk);
    return sandbox.onOutput && tellCaller(chunk);
  };
  let resolvePid: (pid: number | null) => void = () => {};
  const told = new Promise<number | null>((settle) => {
    resolvePid = settle;
  });
  const abort = linkedAbort([sandbox.signal, params.signal]);

  // A detached program has to tell its pid, so that one gets what any program gets: E2BIG.
  const long = tellPid ? null : longCommand(params);
  const options: BashOptions = {
    sanitize: false,
    ...(sandbox.mode === undefined ? { timeoutMs: NO_LIMIT_MS } : {}),
    ...definedOnly(sandbox),
    cwd: resolve(sandbox.cwd, params.cwd ?? '.'),
    env: { ...sandbox.env, ...params.env },
    args: long ? long.args : [params.cmd, ...(params.args ?? [])],
    signal: abort.controller.signal,
    // All of it arrives here; the result's own copy would only be a second one.
    truncate: { keep: 'tail', maxBytes: 1 },
    spill: false,
    onTimeout: 'kill',
    onSnapshot: tellPid ? withoutPid(sandbox.onSnapshot) : sandbox.onSnapshot,
    onOutput: tellPid ? withoutFirstLine((line) => resolvePid(Number(line)), collect) : collect,
  };
  const ended = bash(long?.command ?? (tellPid ? TELL_PID_AND_REPLACE : REPLACE), options)
    .finally(abort.unlink)
    .then((result) => ({
      // Nothing is ever moved to the background here, so that there is an exit code.
      finished: output.finished(result.exitCode ?? 0),
      survivors: result.survivors,
    }));
  return {
    pid: Promise.race([told, ended.then(() => null)]),
    ended,
    abort: () => abort.controller.abort(),
  };
}

/** The handle of a program that goes on by itself. Resolves once it has been started. */
export async function detached({ pid, ended, abort }: Started): Promise<DetachedCommand> {
  let running = true;
  const finished = ended.then(({ finished }) => finished);
  const over = finished.then(
    () => {
      running = false;
    },
    () => {
      running = false;
    },
  );
  const group = await pid;
  return {
    wait: () => finished,
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
  if (cwd !== undefined && typeof cwd !== 'string') throw invalid('cwd must be a string');
  if (env !== undefined && (typeof env !== 'object' || env === null)) throw invalid('env must be an object');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal must be an AbortSignal');
  return params;
}

function signalNumber(name: string): number {
  const signals: Record<string, number> = constants.signals;
  const number = signals[name] ?? signals[`SIG${name}`];
  if (number === undefined) throw invalid(`unknown signal: ${name}`);
  return number;
}

/** A controller that others abort too, until `unlink`; by hand, since `AbortSignal.any` keeps a trace on long-lived signals. */
function linkedAbort(signals: (AbortSignal | undefined)[]): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const linked = signals.filter((signal) => signal !== undefined);
  for (const signal of linked) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }
  return {
    controller,
    unlink: () => {
      for (const signal of linked) signal.removeEventListener('abort', abort);
    },
  };
}

/** A caller's view of a running program, without the line that told its pid. */
function withoutPid(listener: BashOptions['onSnapshot']): BashOptions['onSnapshot'] {
  return listener && ((snapshot) => listener({ ...snapshot, stdout: afterLine(snapshot.stdout, `${snapshot.pid}\n`) }));
}

function afterLine(text: string, line: string): string {
  return text.startsWith(line) ? text.slice(line.length) : text;
}

/** The entries that have a value: `undefined` counts as left out. */
function definedOnly<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
