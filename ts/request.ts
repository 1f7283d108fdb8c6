import type { Bridge, NativeRequest } from '../native.cjs';
import { draftCredentials, nativeConfinement } from './confine/native.ts';
import { isMainThread, resolve, types } from './core/builtins.ts';
import { jsonOf } from './core/json.ts';
import { streamsIn } from './core/streams.ts';
import { directoryIn, draftOf, nativeDraft } from './draft/handle.ts';
import { BashError } from './errors.ts';
import { nativeEntry } from './ledger/options.ts';
import type { Observer } from './observe/observer.ts';
import { KEEPING, type Kept, keeperOf, STORE_BYTES } from './reduce/keeping.ts';
import { nativeReductionOf } from './reduce/options.ts';
import { handleOf } from './registry/handle.ts';
import { nativeSafety } from './safety/options.ts';
import { NATIVE_CHECKS } from './schema/checks.ts';
import type { NativeOptions } from './schema/types.ts';
import { pathOn, thereOf } from './target/handle.ts';
import type { CommandOptions } from './types.ts';
import { nativeUndo } from './undo/options.ts';

/** Begins a command, here or on its target. Returns the number of the call. */
export function begin(way: Bridge, command: string, given: CommandOptions, observer?: Observer | undefined): number {
  const there = thereOf(given.target);
  return (there?.native ?? way).start(toNative(command, given, observer));
}

/** Returns the text that the shell runs, with the prefix before its first line. */
export function prefixed(command: string, prefix: string | undefined): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** What a session knows of its commands itself. */
interface SessionCommand {
  /** The directory, '' for that of the session. */
  cwd: string;
  /** The environment of the host when the session began. */
  hostEnv: string;
  /** The variables of this command alone. */
  ownEnv: [name: string, value: string | null | undefined][];
}

/** Returns a command as the addon takes it, for this machine or its target. */
export function toNative(
  command: string,
  given: CommandOptions,
  observer?: Observer | undefined,
  session?: SessionCommand,
): NativeRequest {
  const { prefix, stdin, target } = given;
  const bytes = typeof stdin === 'string' ? Buffer.from(stdin) : stdin;
  const hostEnv = target ? undefined : session ? session.hostEnv : ownEnvironment();
  return {
    command: prefixed(command, prefix),
    cwd: session ? session.cwd : directoryOf(given),
    umask: process.umask(),
    options: optionsText(given, observer, session?.ownEnv),
    ...(typeof hostEnv === 'string' && { hostEnv }),
    ...(bytes && { stdin: bytes }),
  };
}

const NATIVE = Object.keys(NATIVE_CHECKS) as (keyof NativeOptions)[];

/**
 * Returns the options as JSON for the addon, which reads them by the same names (`RawOptions` in
 * crates/runner/src/request/raw_options.rs). Options that are left out have their default there. `ownEnv` are the
 * variables of one command of a session.
 */
function optionsText(
  given: CommandOptions,
  observer?: Observer | undefined,
  ownEnv?: [name: string, value: string | null | undefined][],
): string {
  const options: Record<string, unknown> = {};
  for (const name of NATIVE) options[name] = given[name];
  const { spill, snapshot } = given;
  const there = thereOf(given.target);
  const path = pathOn(given.target);
  const env = there?.env || given.env ? { ...there?.env, ...given.env } : undefined;
  const streams = streamsIn(given);
  // Without `undefined`, which JSON leaves out.
  if (env) options.env = Object.entries(env);
  if (ownEnv?.length) options.ownEnv = ownEnv;
  options.safety = nativeSafety(given.safety);
  options.spill = typeof spill === 'object' ? { ...spill, allocate: spill.allocate !== undefined } : spill;
  if (there && typeof spill === 'object' && spill.dir) options.spill = { ...spill, dir: path(spill.dir) };
  options.snapshot = typeof snapshot === 'string' ? path(snapshot) : snapshot;
  options.draft = nativeDraft(given.draft);
  options.credentials = draftCredentials(given);
  options.confine = options.draft ? undefined : nativeConfinement(given);
  options.undo = nativeUndo(given.undo, path);
  options.reduce = nativeReductionOf(given);
  const keeping = (given as Kept)[KEEPING];
  options.isProducer = keeping?.isProducer || undefined;
  if (options.taps === 'on') options.tapBytes = keeping ? keeperOf(keeping.store).maxBytes : STORE_BYTES;
  Object.assign(options, nativeEntry(given));
  options.registry = handleOf(given.registry)?.native?.id;
  options.aborted = given.signal?.aborted || undefined;
  if (streams) options.streams = { bytes: streams.bytes, fed: streams.fed };
  // The helper of a task reads its output, and listeners of the registry receive it.
  if (given.mode !== 'background') {
    options.live = given.onOutput !== undefined || observer?.wantsOutput || undefined;
    options.snapshots = given.onSnapshot && true;
    options.prompts = given.onPrompt && true;
    // The entry of a command of a target begins when the target tells of its start.
    options.starts = observer?.wantsStart(given) || (there && options.ledger) || undefined;
  }
  return jsonOf(options);
}

/**
 * Returns the absolute path of `cwd`, here or there. Without one it is the directory of the target or draft, or the
 * host's own.
 * Throws `ERR_BASH_CWD_NOT_FOUND` if that is gone.
 */
export function directoryOf({ cwd, target, draft }: CommandOptions): string {
  const there = thereOf(target);
  if (there) return resolve(there.cwd, cwd ?? '');
  const parts = cwd === undefined ? draftOf(draft) : undefined;
  if (parts) return directoryIn(parts);
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

/** Returns whether an object is Node's own view of the environment of this process. */
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
