import type { Bridge, NativeOptions } from '../native.cjs';
import { nativeConfinement } from './confine/native.ts';
import { isMainThread, resolve, types } from './core/builtins.ts';
import { definedOnly } from './core/defined.ts';
import { STREAMS, type Streams } from './core/streams.ts';
import { BashError } from './errors.ts';
import type { Observer } from './observe/observer.ts';
import { nativeReductionOf } from './reduce/options.ts';
import { handleOf } from './registry/handle.ts';
import { toNativeSafety } from './safety/options.ts';
import type { BashOptions } from './types.ts';
import { nativeRecord } from './undo/options.ts';

/**
 * Returns the arguments of `Bridge.start` and `NativeRegistry.start`. Each key that crosses into the addon costs time,
 * so options with their default value are left out.
 */
export function toNative(
  command: string,
  given: BashOptions,
  observer?: Observer | undefined,
): Parameters<Bridge['start']> {
  return [
    prefixed(command, given.prefix),
    directoryOf(given.cwd),
    ownEnvironment(),
    process.umask(),
    toNativeOptions(given, observer),
  ];
}

/** Returns the text that the shell runs, with the prefix before its first line. */
export function prefixed(command: string, prefix: string | undefined): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** Returns the options that differ from their defaults; `null` if none does. */
export function toNativeOptions(given: BashOptions, observer?: Observer | undefined): NativeOptions | null {
  const options = optionsOf(given);
  if (observer && given.mode !== 'background') {
    options.starts = true;
    if (observer.wantsOutput) options.live = true;
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
  if (given.idleTimeoutMs !== undefined) options.idleTimeoutMs = given.idleTimeoutMs;
  if (graceMs !== undefined) options.graceMs = graceMs;
  if (merge !== undefined) options.merge = merge;
  if (truncate !== undefined) options.truncate = definedOnly(truncate);
  if (limits !== undefined) options.limits = definedOnly(limits);
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
  else if (typeof spill === 'object') options.spill = definedOnly({ ...spill, allocate: spill.allocate !== undefined });
  // The helper of a task reads its output, and listeners of the registry receive it.
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
  // The addon takes an empty path for the user's own rc files.
  if (given.snapshot) options.snapshot = given.snapshot === true ? '' : resolve(given.snapshot);
  const safety = toNativeSafety(given.safety);
  if (safety) options.safety = safety;
  const world = nativeConfinement(given);
  if (world) Object.assign(options, world);
  Object.assign(options, nativeRecord(given));
  const reduction = nativeReductionOf(given);
  if (reduction) options.reduce = reduction;
  const registry = handleOf(given.registry);
  if (registry) {
    options.registry = registry.native.id;
    if (!background && given.onTimeout !== 'kill') options.toBackground = true;
  }
  return options;
}

/**
 * Returns the absolute path of `cwd`, or of the host's own directory. Throws `ERR_BASH_CWD_NOT_FOUND` if that is gone.
 */
export function directoryOf(cwd: string | undefined): string {
  try {
    return cwd === undefined ? process.cwd() : resolve(cwd);
  } catch {
    throw new BashError('ERR_BASH_CWD_NOT_FOUND', `Working directory does not exist: ${cwd ?? "the host's own"}`);
  }
}

/**
 * Returns what `hostEnvironment` returns, or null if the addon can read the same from the process itself, which takes a
 * fiftieth of the time.
 */
export function ownEnvironment(env: Record<string, string | undefined> = process.env): string | null {
  return isOfProcess(env) ? null : hostEnvironment(env);
}

let checked: { env: object; isOfProcess: boolean } | undefined;

/** Whether an object is Node's own view of the environment of this process. */
function isOfProcess(env: object): boolean {
  if (checked?.env !== env) checked = { env, isOfProcess: env === process.env && refusesAccessors(env) };
  return checked.isOfProcess;
}

/**
 * Whether Node itself keeps this object, and not a test runner, a worker, Bun, or code that replaced `process.env`.
 * Node's refuses a property with a getter, and changes nothing.
 */
function refusesAccessors(env: object): boolean {
  if (!isMainThread || process.versions.bun !== undefined || types.isProxy(env)) return false;
  const name = 'AGENT_BASH_PROBE';
  if (Object.hasOwn(env, name)) return false;
  try {
    Object.defineProperty(env, name, { get: () => undefined, configurable: true });
  } catch (error) {
    return (error as { code?: unknown }).code === 'ERR_INVALID_OBJECT_DEFINE_PROPERTY';
  }
  Reflect.deleteProperty(env, name);
  return false;
}

/**
 * Returns an environment as `NAME=VALUE`, each ended by a NUL. One string crosses into the addon much faster than an
 * object with a property for each variable, and reading the names alone avoids a second read of each value of
 * `process.env`.
 */
export function hostEnvironment(env: Record<string, string | undefined> = process.env): string {
  let block = '';
  for (const name of Object.getOwnPropertyNames(env)) {
    const value = env[name];
    if (typeof value === 'string') block += `${name}=${value}\0`;
  }
  return block;
}
