import type { Bridge, NativeOptions } from '../native.cjs';
import { resolve } from './builtins';
import { BashError } from './errors';
import { handleOf } from './handle';
import type { Observer } from './observe/observer';
import { toNativeSafety } from './safety-options';
import { STREAMS, type Streams } from './streams';
import type { BashOptions } from './types';

/** As `Bridge.start` and `NativeRegistry.start` take it. Each key that crosses costs time, so what has its default does not. */
export function toNative(
  command: string,
  given: BashOptions,
  observer?: Observer | undefined,
): Parameters<Bridge['start']> {
  return [
    prefixed(command, given.prefix),
    folder(given.cwd),
    hostEnvironment(),
    process.umask(),
    toNativeOptions(given, observer),
  ];
}

/** What the shell runs: the prefix stands before the first line. */
export function prefixed(command: string, prefix: string | undefined): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** What differs from the defaults; `null` when nothing does. */
export function toNativeOptions(given: BashOptions, observer?: Observer | undefined): NativeOptions | null {
  const options = optionsOf(given);
  if (observer && given.mode !== 'background') {
    options.starts = true;
    if (observer.hearsOutput) options.live = true;
  }
  return Object.keys(options).length === 0 ? null : options;
}

function optionsOf(given: BashOptions): NativeOptions {
  const { args, mode, timeoutMs, graceMs, merge, truncate, limits, shell, env, inheritEnv, sanitize, spill, stdin } =
    given;
  const options: NativeOptions = {};
  if (args !== undefined) options.args = args;
  if (mode !== undefined) options.mode = mode;
  if (timeoutMs !== undefined) options.timeoutMs = timeoutMs;
  if (graceMs !== undefined) options.graceMs = graceMs;
  if (merge !== undefined) options.merge = merge;
  if (truncate !== undefined) options.truncate = defined(truncate);
  if (limits !== undefined) options.limits = defined(limits);
  if (shell !== undefined) options.shell = shell;
  if (env !== undefined) {
    const entries = Object.entries(env);
    options.env = entries.flatMap(([name, value]) => (typeof value === 'string' ? [name, value] : []));
    options.envRemoved = entries.flatMap(([name, value]) => (typeof value === 'string' ? [] : [name]));
  }
  if (Array.isArray(inheritEnv)) options.inheritNames = inheritEnv;
  else if (inheritEnv !== undefined) options.inherit = inheritEnv;
  if (stdin !== undefined) options.stdin = typeof stdin === 'string' ? Buffer.from(stdin) : stdin;
  if (sanitize === false) options.raw = true;
  else if (typeof sanitize === 'object') {
    options.keepAnsi = sanitize.ansi === false;
    options.keepProgress = sanitize.progress === 'keep';
  }
  if (spill === false) options.noSpill = true;
  else if (typeof spill === 'object') options.spill = defined({ ...spill, allocate: spill.allocate !== undefined });
  // A task's output is read by its own helper; who wants to hear it listens to the registry.
  const background = mode === 'background';
  if (given.onOutput && !background) options.live = true;
  if (given.onSnapshot && !background) options.snapshots = true;
  if (given.onPrompt && !background) options.prompts = true;
  if (given.snapshotIntervalMs !== undefined) options.snapshotMs = given.snapshotIntervalMs;
  if (given.signal?.aborted) options.aborted = true;
  if (given.warm === false) options.cold = true;
  const streams = (given as { [STREAMS]?: Streams })[STREAMS];
  if (streams) {
    options.streams = true;
    options.bytes = streams.bytes;
    options.fed = streams.fed;
  }
  // An rc file is named by its path, the user's own by none.
  if (given.snapshot) options.snapshot = given.snapshot === true ? '' : resolve(given.snapshot);
  const safety = toNativeSafety(given.safety);
  if (safety) options.safety = safety;
  const registry = handleOf(given.registry);
  if (registry) {
    options.registry = registry.native.id;
    if (!background && given.onTimeout !== 'kill') options.toBackground = true;
  }
  return options;
}

// The bridge takes a key that is there for a value that is there.
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as never;
}

/** The absolute path of the folder that an option names, or of the host's own. */
export function folder(cwd: string | undefined): string {
  try {
    return cwd === undefined ? process.cwd() : resolve(cwd);
  } catch {
    throw new BashError('ERR_BASH_CWD_NOT_FOUND', `Working directory does not exist: ${cwd ?? "the host's own"}`);
  }
}

/**
 * One string crosses into the core much faster than an object with a property a variable, and asking for the names alone
 * spares the enumeration of `process.env` a second look at each of them.
 */
export function hostEnvironment(env: Record<string, string | undefined> = process.env): string {
  let block = '';
  for (const name of Object.getOwnPropertyNames(env)) {
    const value = env[name];
    if (typeof value === 'string') block += `${name}=${value}\0`;
  }
  return block;
}
