import type { NativeSession, NativeSessionThere } from '../native.cjs';
import { endTaskWithDraft, neverRun, onRunEvent, withRegistry } from './bash.ts';
import type { BashOptions } from './bash-options.ts';
import { callSecrets } from './confine/native.ts';
import { newOwner } from './confine/owner.ts';
import { unlessAborted } from './core/abort.ts';
import { resolve } from './core/builtins.ts';
import { type Call, settled, theBridge } from './core/calls.ts';
import { invalid } from './core/checks.ts';
import { DECIDED, type Decided } from './core/ledger.ts';
import { loadNative } from './core/native.ts';
import { OWNER, type Owned, type Owner } from './core/world.ts';
import { endingWithDraft, runningIn } from './draft/handle.ts';
import { BashError } from './errors.ts';
import { type PlacedCall, type PoolParts, placeName, poolOf } from './fleet/handle.ts';
import { runOnPlace } from './fleet/placed.ts';
import { Observer } from './observe/observer.ts';
import { checkOptions, checkPlace } from './options.ts';
import { finished, isUnfinished } from './reduce/finish.ts';
import { KEEPING, type Kept } from './reduce/keeping.ts';
import { exitOf, tasksOf } from './registry/handle.ts';
import { directoryOf, hostEnvironment, prefixed, toNative } from './request.ts';
import { type BashResult, resultOf } from './result.ts';
import { type There, thereOf } from './target/handle.ts';
import type { Target } from './target/types.ts';
import type { CommandOptions, PlacedOptions } from './types.ts';

/** The result of a command of a session. */
export type SessionResult = BashResult & {
  /** The directory in which the next command of the session starts. */
  cwd: string;
};

/** A name that bash can export. */
const IDENTIFIER = /^[A-Za-z_]\w*$/;

/**
 * A shell that remembers: the directory, variables, arrays, functions, aliases, options and traps that a command leaves
 * are there for the next command. Each command still has a fresh shell, so `exit`, `exec`, a signal, a syntax error, a
 * limit or an abort end that command alone. The session keeps the state of the last command that ended by itself,
 * whatever its exit code. Jobs, `$!` and EXIT traps do not carry over.
 *
 * Commands run one after another in the order of the calls. A session begins with the environment at its construction.
 * Its state is kept in this process only.
 */
export class BashSession {
  /** `null`: the pool of the option `target` has given the session no place yet. */
  #native: NativeSession | NativeSessionThere | null = null;
  /** The target of a pool where the session is. */
  #at: Target | null = null;
  readonly #options: BashOptions;
  /** What its commands have in common for a pool. */
  readonly #affinity: unknown;
  /** Settles when the commands so far have ended. A pool places one command of a session at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #hostEnvironment = hostEnvironment();
  /** The owner of the worlds of its commands. The root is the first directory. */
  readonly #owner: Owner;
  readonly #running = new Map<number, { run: Promise<unknown>; observer: Observer | undefined }>();
  #closed = false;

  /**
   * Starts no command. The options apply to each command; `cwd` is the directory in which the session begins. With
   * `confine`, the namespaces of its commands are made in the background.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG`, for an option that does not exist or has the wrong type.
   *
   * @example await using session = new BashSession({ cwd: '/srv/project' });
   */
  constructor(options: BashOptions = {}) {
    checkOptions('BashSession', '', options);
    checkPlace(options);
    this.#options = { ...options };
    this.#affinity = options.affinity ?? this.#running;
    const first = poolOf(options.target) ? (options.cwd ?? '') : directoryOf(options);
    const there = thereOf(options.target);
    const { NativeSession, NativeSessionThere } = loadNative();
    const here = options.target ? undefined : new NativeSession(theBridge(), first);
    if (here) this.#native = here;
    else if (there) this.#native = new NativeSessionThere(there.native, first);
    this.#owner = newOwner(first, here);
    this.#owner.begin(this.#options);
    // A tool with this session also runs other commands in the session's world, such as a command in a terminal.
    Object.defineProperty(this, OWNER, { value: this.#owner });
  }

  /** A copy of the options of the constructor. */
  get options(): Readonly<BashOptions> {
    return { ...this.#options };
  }

  /**
   * The directory in which the next command starts, absolute, as its shell calls it (links are not followed). On a pool
   * it is the option `cwd`, or `''`, until the first command has a place.
   */
  get cwd(): string {
    return this.#native?.cwd ?? this.#options.cwd ?? '';
  }

  /**
   * Runs a command once the commands before it have ended. Resolves and rejects as `bash()` does, and rejects with
   * `ERR_BASH_CLOSED` after `close()`. `options` replace the session's options one by one, and `undefined` counts as
   * left out. `cwd` is where this command starts, relative to the session's directory, and `env` applies to this
   * command alone.
   *
   * A command that goes to the background takes its state from the session and leaves none. If the directory is gone,
   * the command runs in the session's first one, with a note.
   *
   * @example const { stdout, cwd } = await session.run('cd src && ls');
   */
  async run(command: string, options: BashOptions = {}): Promise<SessionResult> {
    checkOptions('BashSession.run', command, options);
    if (options.target !== undefined && options.target !== this.#options.target) {
      throw invalid('target', placeName(options.target), "the session's own, which is that of its constructor");
    }
    if (this.#closed) throw closed();
    const { env, cwd, ...over } = options;
    const given = Object.entries(over).filter(([, value]) => value !== undefined);
    const merged = { ...this.#options, ...Object.fromEntries(given) } as BashOptions;
    checkPlace(merged);
    const pool = poolOf(merged.target);
    return pool
      ? this.#inTurn(merged.signal, () => this.#runOnPool(pool, command, options, merged))
      : this.#runOn(command, options, merged as PlacedOptions);
  }

  /** Calls `run` once the commands before it have ended, or were given up. */
  async #inTurn<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
    const before = this.#turn;
    const ran = (signal ? unlessAborted(before, signal) : before).then(() => {
      if (this.#closed) throw closed();
      return run();
    });
    this.#turn = Promise.allSettled([before, ran]);
    return ran;
  }

  #runOnPool(pool: PoolParts, command: string, options: BashOptions, merged: BashOptions): Promise<SessionResult> {
    const run = async (target: Target, call: PlacedCall): Promise<SessionResult> => {
      if (this.#closed) throw closed();
      const note = this.#moveTo(target);
      const placed = withRegistry({ ...merged, target });
      const result = await this.#runOn(command, options, placed);
      if (result.status === 'backgrounded') call.holdUntil(exitOf(placed.registry, result.background));
      return note === null ? result : { ...result, notes: [note, ...result.notes] };
    };
    const aborted = async () => ({ ...(await neverRun(merged)), cwd: this.cwd }) as SessionResult;
    return runOnPlace(pool, merged, this.#affinity, run, aborted);
  }

  /** Goes on on a target of a pool. Returns what the caller should know of it. */
  #moveTo(target: Target): string | null {
    const before = this.#at;
    if (before === target) return null;
    const there = thereOf(target) as There;
    this.#native?.close();
    this.#at = target;
    const first = resolve(there.cwd, this.#options.cwd ?? '');
    this.#native = new (loadNative().NativeSessionThere)(there.native, first);
    return before && `the session goes on on ${target.id}, without the state and files that it had on ${before.id}`;
  }

  async #runOn(command: string, options: BashOptions, given: PlacedOptions): Promise<SessionResult> {
    const shared = withRegistry(endingWithDraft(given));
    const calls = callSecrets(shared);
    if (calls) await calls;
    const native = this.#native as NativeSession | NativeSessionThere;
    const { cwd } = options;
    const own = cwd === undefined ? '' : resolve(this.cwd, cwd);
    const kind = shared.mode === 'background' ? 'task' : 'session';
    const observer = Observer.of(kind, command, shared, () => own || this.cwd);
    const tasks = observer && tasksOf(shared.registry);
    const { env = {} } = observer?.withVariables(options, this.#options.env) ?? options;
    const names = Object.keys(env).filter((name) => IDENTIFIER.test(name) && name !== 'AGENT_BASH_ID');
    // bash can export no other name: those are given to the process itself.
    const others = Object.entries(env).filter(([name]) => !names.includes(name));
    if (others.length > 0) shared.env = { ...shared.env, ...Object.fromEntries(others) };
    const { [KEEPING]: keeping, [DECIDED]: decided } = options as Kept & Decided;
    const all: CommandOptions & Owned & Kept & Decided = {
      ...shared,
      [OWNER]: this.#at ? { ...this.#owner, root: directoryOf({ ...this.#options, target: this.#at }) } : this.#owner,
      ...(keeping && { [KEEPING]: keeping }),
      ...(decided && { [DECIDED]: decided }),
    };
    const ownEnv = names.map((name): [string, string | null | undefined] => [name, env[name]]);
    let id = 0;
    const text = prefixed(command, shared.prefix);
    const call = {
      begin: () => {
        const request = toNative(command, all, observer, { cwd: own, hostEnv: this.#hostEnvironment, ownEnv });
        id = native.run(request);
        return id;
      },
      kind: 'result',
      onEvent: (way, number, event) => onRunEvent(way, number, event, shared, observer),
      signal: shared.signal,
      abort: (way, number) => {
        way.abort(number);
        observer?.kill('abort');
      },
      target: thereOf(shared.target)?.id,
    } satisfies Omit<Call<'result', unknown>, 'answer'>;
    const inDirectory = (result: BashResult, cwd: string | undefined) =>
      ({ ...result, cwd: cwd ?? this.cwd }) as SessionResult;
    const ran = isUnfinished(all)
      ? settled({ ...call, answer: (event) => event }).then(async (event) =>
          inDirectory(await finished(event, text, all), event.cwd),
        )
      : settled({ ...call, answer: (event) => inDirectory(resultOf(event, all), event.cwd) });
    const followed = observer ? observer.follow(ran, tasks) : ran;
    const run = runningIn(shared.draft, followed);
    this.#running.set(id, { run, observer });
    try {
      const result = await run;
      endTaskWithDraft(result, shared);
      return result;
    } finally {
      this.#running.delete(id);
    }
  }

  /**
   * Forgets everything: the next command starts as the first one did, in the first directory. Waits for its turn as a
   * command does. Rejects with `ERR_BASH_CLOSED` after `close()`.
   */
  async reset(): Promise<void> {
    if (this.#closed) throw closed();
    if (poolOf(this.#options.target)) await this.#turn;
    const native = this.#native;
    if (native) await settled({ begin: () => native.reset(), kind: 'done', answer: () => undefined });
  }

  /**
   * Ends the running command, as an abort does, and forgets everything. Commands that wait for their turn reject with
   * `ERR_BASH_CLOSED`. May be called again.
   */
  async close(): Promise<void> {
    this.#closed = true;
    this.#native?.close();
    const running = [...this.#running];
    for (const [id, { observer }] of running) {
      theBridge().abort(id);
      observer?.kill('close');
    }
    await Promise.allSettled(running.map(([, { run }]) => run));
    this.#owner.end();
    poolOf(this.#options.target)?.forget(this.#affinity);
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function closed(): BashError {
  return new BashError('ERR_BASH_CLOSED', 'the session was closed');
}
