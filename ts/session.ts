import type { BashResult, NativeGiven, NativeSession } from '../native.cjs';
import { settled, theBridge } from './bridge';
import { resolve } from './builtins';
import { BashError } from './errors';
import { tasksOf } from './handle';
import { loadNative } from './native';
import { Observer } from './observe/observer';
import { checkOptions } from './options';
import { folder, hostEnvironment, prefixed, toNativeOptions } from './request';
import { tell, withRegistry } from './run';
import type { BashOptions } from './types';

/** What a command of a session resolves to. */
export type SessionResult = BashResult & {
  /** The folder that the session is in now. */
  cwd: string;
};

/** A name that bash can export. */
const IDENTIFIER = /^[A-Za-z_]\w*$/;

/**
 * A shell that remembers: the folder, variables, arrays, functions, aliases, options and traps that a command leaves are
 * there for the next one. Each command still has a fresh shell, so that none can break the session: `exit`, `exec`, a signal,
 * a syntax error, a limit or an abort end that command alone, and the state stays that of the last command that ended by
 * itself, whatever its exit code. Jobs, `$!` and EXIT traps do not carry over.
 *
 * Commands run one after another in the order of the calls. The environment that a session begins with is that of its
 * construction. State is kept in this process, and nobody else's.
 */
export class BashSession {
  readonly #native: NativeSession;
  readonly #options: BashOptions;
  readonly #hostEnvironment = hostEnvironment();
  readonly #running = new Map<number, { run: Promise<unknown>; observer: Observer | undefined }>();
  #closed = false;

  /**
   * `options` are those of each command; `cwd` is the folder that the session begins in. Starts nothing.
   *
   * Throws a `BashError`, `ERR_BASH_INVALID_ARG` for options of a wrong type: it is the only call here that throws.
   */
  constructor(options: BashOptions = {}) {
    checkOptions('', options);
    this.#options = { ...options };
    this.#native = new (loadNative().NativeSession)(theBridge(), folder(options.cwd));
  }

  /** What it was made with: a copy. */
  get options(): Readonly<BashOptions> {
    return { ...this.#options };
  }

  /** The folder that the next command starts in, absolute, as its shell calls it (links are not followed). */
  get cwd(): string {
    return this.#native.cwd;
  }

  /**
   * Runs a command when those before it have ended; resolves and rejects as `bash()` does, and with `ERR_BASH_CLOSED` after
   * `close()`. `options` lie over those of the session, `undefined` counting as left out; of them `cwd` is where this command starts (relative ones begin at
   * the session's folder), and `env` holds for this command alone. What goes to the background takes its state from the
   * session and leaves none. Where the folder is gone the command runs in the session's first one, with a note.
   */
  async run(command: string, options: BashOptions = {}): Promise<SessionResult> {
    checkOptions(command, options);
    if (this.#closed) throw closed();
    const { env = {}, cwd, ...over } = options;
    const given = Object.entries(over).filter(([, value]) => value !== undefined);
    const shared: BashOptions = { ...this.#options, ...Object.fromEntries(given) };
    const names = Object.keys(env).filter((name) => IDENTIFIER.test(name) && name !== 'AGENT_BASH_ID');
    // bash can export no other name: those are given to the process itself.
    const others = Object.entries(env).filter(([name]) => !names.includes(name));
    if (others.length > 0) shared.env = { ...shared.env, ...Object.fromEntries(others) };
    const all = withRegistry(shared);
    const own = cwd === undefined ? '' : resolve(this.cwd, cwd);
    const kind = all.mode === 'background' ? 'task' : 'session';
    const observer = Observer.of(kind, command, options, () => own || this.cwd);
    const tasks = observer && tasksOf(all.registry);
    const native = toNativeOptions(all, observer);
    const text = prefixed(command, shared.prefix);
    let id = 0;
    const ran = settled<SessionResult>({
      ask: () => {
        id = this.#native.run(text, own, this.#hostEnvironment, process.umask(), native, toGiven(env, names));
        return id;
      },
      answer: ({ result, cwd }) => result && { ...result, cwd: cwd ?? '' },
      meanwhile: (way, event) => tell(way, event, shared, observer),
      signal: shared.signal,
      abort: (way, number) => {
        way.abort(number);
        observer?.kill('abort');
      },
    });
    const run = observer ? observer.follow(ran, tasks) : ran;
    this.#running.set(id, { run, observer });
    try {
      return await run;
    } finally {
      this.#running.delete(id);
    }
  }

  /** Forgets everything: the next command starts as the first one did, in the first folder. Waits for its turn as a command does. */
  async reset(): Promise<void> {
    if (this.#closed) throw closed();
    await settled<boolean>({ ask: () => this.#native.reset(), answer: (event) => event.closed });
  }

  /** Ends what still runs in it, as an abort does, and forgets everything. Commands that wait for their turn reject with `ERR_BASH_CLOSED`. May be called again. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#native.close();
    const running = [...this.#running];
    for (const [id, { observer }] of running) {
      theBridge().abort(id);
      observer?.kill('close');
    }
    await Promise.allSettled(running.map(([, { run }]) => run));
  }

  /** The same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function toGiven(env: NonNullable<BashOptions['env']>, names: string[]): NativeGiven | null {
  if (names.length === 0) return null;
  const given: NativeGiven = { set: [], removed: [] };
  for (const name of names) {
    const value = env[name];
    if (typeof value === 'string') given.set.push(name, value);
    else given.removed.push(name);
  }
  return given;
}

function closed(): BashError {
  return new BashError('ERR_BASH_CLOSED', 'the session was closed');
}
