import { createContext, Script } from 'node:vm';
import { BashError, type BashOptions, type Confinement, PtySession } from 'agent-bash';
import { messageOf } from '../../core/listener.ts';
import type { Modes } from './keys.ts';
import type { TerminalEnd, TerminalReason, TerminalState, TerminalView } from './types.ts';

/** Time one search for a pattern may take, in ms. A model's pattern must not block the host. */
const LONGEST_MS = 100;

/** Returns whether the awaited text is on the screen. Throws `ERR_BASH_INVALID_ARG` if the search takes too long. */
export type ScreenSearch = (screen: string) => boolean;

/**
 * Returns a search for the text or pattern of an input, or `null` if the input names neither. Throws
 * `ERR_BASH_INVALID_ARG` for an invalid pattern.
 */
export function appears(text: string | null | undefined, pattern: string | null | undefined): ScreenSearch | null {
  if (text != null) return (screen) => screen.includes(text);
  if (pattern == null) return null;
  let regexp: RegExp;
  try {
    regexp = new RegExp(pattern, 'u');
  } catch {
    // Without `u` more patterns are valid: an escaped `-`, a lone brace.
    try {
      regexp = new RegExp(pattern);
    } catch (error) {
      throw new BashError('ERR_BASH_INVALID_ARG', `pattern: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  // Only a separate script can be interrupted during a match.
  const context = createContext({ regexp, screen: '' });
  const script = new Script('regexp.test(screen)');
  return (screen) => {
    context.screen = screen;
    try {
      return script.runInContext(context, { timeout: LONGEST_MS }) as boolean;
    } catch {
      throw new BashError(
        'ERR_BASH_INVALID_ARG',
        'pattern: it takes too long on this screen; a simpler one, or text, does not',
      );
    }
  };
}

/** Interval between scans of the screen while the program writes, in ms. */
const LOOK_MS = 20;

/** The events that end a wait, besides the program's end. */
export interface Until {
  appears?: ScreenSearch | null;
  /** Time without output, in ms. */
  idleMs?: number | null;
  /** Silence only counts after this many pieces of output, or after so many ms without them. */
  after?: { outputs: number; withinMs: number };
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The part of a terminal that a wait uses. */
export interface Watched {
  readonly running: boolean;
  /** Pieces of output so far. */
  readonly outputs: number;
  /** The screen as one text. */
  text(): string;
  /** Calls the listener after each piece of output and at the end. Returns the function that removes it. */
  listen(listener: () => void): () => void;
}

/** Resolves with the first event. Rejects if `appears` throws. */
export function waitFor(
  waited: Watched,
  { appears, idleMs, after, timeoutMs, signal }: Until,
): Promise<TerminalReason> {
  return new Promise((resolve, reject) => {
    const timers: NodeJS.Timeout[] = [];
    let quiet: NodeJS.Timeout | undefined;
    let look: NodeJS.Timeout | undefined;
    let forget = () => {};
    const settle = (how: () => void) => {
      for (const timer of [...timers, quiet, look]) clearTimeout(timer);
      forget();
      signal?.removeEventListener('abort', onAbort);
      how();
    };
    const finish = (reason: TerminalReason) => settle(() => resolve(reason));
    const onAbort = () => finish('interrupted');
    /** Scans a last time if there is a reason to end. Returns whether the wait is over. */
    const over = (reason?: TerminalReason): boolean => {
      look = undefined;
      try {
        if (appears?.(waited.text())) finish('appeared');
        else if (reason) finish(reason);
        else return false;
      } catch (error) {
        settle(() => reject(error));
      }
      return true;
    };
    const hush = () => {
      if (quiet) quiet.refresh();
      else if (idleMs != null) quiet = setTimeout(() => over('idle'), idleMs);
    };
    if (signal?.aborted) return onAbort();
    if (over(waited.running ? undefined : 'ended')) return;
    forget = waited.listen(() => {
      if (!waited.running) {
        over('ended');
        return;
      }
      hush();
      if (appears) look ??= setTimeout(over, LOOK_MS);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    timers.push(setTimeout(() => over('timeout'), timeoutMs));
    if (after === undefined || waited.outputs > after.outputs) hush();
    else timers.push(setTimeout(hush, after.withinMs));
  });
}

/** Time typing may take, in ms. A program that does not read takes no more than its terminal's buffer holds. */
const WRITE_MS = 5_000;

/** The record of a program that runs. */
const NOTHING = { runId: null, receipt: null, undo: null, stale: null };

type Screen = ReturnType<PtySession['screen']>;

/** How to start a terminal. */
export interface Beginning {
  command: string;
  options: BashOptions;
  cols: number;
  rows: number;
}

/** A program in a terminal, while it runs and afterwards. */
export class Terminal implements Watched {
  readonly #id: string;
  readonly #command: string;
  readonly #listeners = new Set<() => void>();
  /** Aborts a start that waits for its turn. */
  readonly #unwanted = new AbortController();
  #pid = 0;
  /** `null` once the program has ended. Only the last screen is kept then. */
  #pty: PtySession | null;
  #screen: Screen;
  #size: { cols: number; rows: number };
  #end: TerminalEnd | null = null;
  #endNotes: string[] = [];
  #confinement: Confinement | null = null;
  #record: Pick<TerminalView, 'runId' | 'receipt' | 'undo' | 'stale'> = NOTHING;
  #ended: Promise<void> = Promise.resolve();
  #seen: string[] | null = null;
  #outputs = 0;

  /** Starts nothing yet. Throws for invalid options. */
  constructor(id: string, { command, options, cols, rows }: Beginning) {
    this.#id = id;
    this.#command = command;
    this.#size = { cols, rows };
    // A `data` listener counts as a drawing host, which must answer the program's queries. Without cleaning, the output
    // event is immediate, and only its occurrence counts here.
    const onOutput = () => {
      this.#outputs += 1;
      this.#notify();
    };
    const signal = AbortSignal.any([this.#unwanted.signal, ...(options.signal ? [options.signal] : [])]);
    this.#pty = new PtySession({ ...options, cols, rows, signal, sanitize: false, spill: false, onOutput });
    this.#screen = this.#pty.screen();
  }

  /**
   * Resolves when the program runs, or when `signal` aborted before that; it has then ended. Rejects as
   * `PtySession.start` does.
   */
  async start(signal: AbortSignal | undefined): Promise<void> {
    const pty = this.#pty as PtySession;
    const onAbort = () => this.#unwanted.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#pid = (await pty.start(this.#command)).pid;
      // Models leave programs open. When the agent's process exits, they are hung up.
      pty.unref();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    this.#ended = pty.result().then(
      ({ status, exitCode, signal, confinement, notes, runId, receipt, undo, stale }) => {
        // A terminal never moves to the background.
        this.#end = { status: status === 'backgrounded' ? 'aborted' : status, exitCode, signal };
        this.#endNotes = notes;
        this.#confinement = confinement;
        this.#record = { runId, receipt, undo, stale };
        this.#screen = pty.screen();
        this.#pty = null;
        this.#notify();
      },
      (error) => {
        this.#end = { status: 'aborted', exitCode: 130, signal: null };
        this.#endNotes = [messageOf(error)];
        this.#pty = null;
        this.#notify();
      },
    );
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** The keyboard modes that the program has set. */
  get modes(): Modes {
    return this.#pty?.modes() ?? { applicationCursor: false, bracketedPaste: false };
  }

  get outputs(): number {
    return this.#outputs;
  }

  get running(): boolean {
    return this.#pty !== null;
  }

  state(): TerminalState {
    return { id: this.#id, command: this.#command, pid: this.#pid, ...this.#size, end: this.#end };
  }

  /** Returns the screen for the model and remembers it for the next comparison. */
  view(reason: TerminalReason, onlyChanged: boolean, notes: string[]): TerminalView {
    const { lines, cursor, title, alternate } = this.#now();
    const seen = this.#seen ?? [];
    const changed = lines.flatMap((text, row) => (text === (seen[row] ?? '') ? [] : [{ row, text }]));
    this.#seen = lines;
    return {
      ...this.state(),
      reason,
      lines: withoutLastBlank(lines),
      changed: onlyChanged ? changed : null,
      cursor,
      title,
      alternate,
      confinement: this.#confinement,
      ...this.#record,
      notes: [...notes, ...this.#endNotes],
    };
  }

  /** Resolves with the first event: the program's end or the awaited one. Rejects if `appears` throws. */
  until(until: Until): Promise<TerminalReason> {
    return waitFor(this, until);
  }

  /**
   * Types the text. Returns `false` if the program has not read all of it in time. The unread rest stays in the buffer.
   */
  async type(text: string, signal: AbortSignal | undefined): Promise<boolean> {
    if (text === '' || this.#pty === null) return true;
    let late: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const given = new Promise<boolean>((resolve) => {
      onAbort = () => resolve(false);
      late = setTimeout(onAbort, WRITE_MS);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    // A program that ends while text is typed is not an error. The screen shows it.
    const written = this.#pty.write(text).then(
      () => true,
      () => true,
    );
    try {
      return await Promise.race([written, given]);
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Changes the size. A missing dimension stays. Throws the session's error for invalid sizes. */
  resize(cols: number | null | undefined, rows: number | null | undefined): void {
    const size = { cols: cols ?? this.#size.cols, rows: rows ?? this.#size.rows };
    this.#pty?.resize(size.cols, size.rows);
    this.#size = size;
    // The rows have changed, so the last view is no basis for comparison.
    this.#seen = null;
  }

  /** Ends the program and all that it started. Resolves when they are gone. */
  async stop(): Promise<void> {
    await this.#pty?.kill();
    await this.#ended;
  }

  /** Keeps one blank behind a prompt, before the cursor. Only one, because columns are not characters. */
  text(): string {
    const { lines, cursor } = this.#now();
    return withoutLastBlank(
      lines.map((line, row) => (row === cursor.row && cursor.col > line.length ? `${line} ` : line)),
    ).join('\n');
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #now(): Screen {
    return this.#pty?.screen() ?? this.#screen;
  }
}

function withoutLastBlank(lines: string[]): string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

/** Terminals that may run at once. */
const MOST_RUNNING = 8;
/** Ended terminals that are kept, the latest. */
const MOST_ENDED = 8;

/** The terminals of one tool, by their ids. */
export class Terminals {
  readonly #terminals = new Map<string, Terminal>();
  readonly #starting = new Set<Promise<unknown>>();
  #last = 0;
  #closed = false;

  /**
   * Rejects as `bash()` does, with `ERR_BASH_UNSUPPORTED` if the machine has no terminals, and with
   * `ERR_BASH_TOO_MANY_TASKS` if too many run.
   */
  async start(beginning: Beginning, signal: AbortSignal | undefined): Promise<Terminal> {
    this.#checkOpen();
    const running = this.list().filter(({ end }) => !end);
    const count = running.length + this.#starting.size;
    if (count >= MOST_RUNNING) {
      throw new BashError(
        'ERR_BASH_TOO_MANY_TASKS',
        `${count} terminals are running already: stop one of them (${named(running)}) before another is started`,
      );
    }
    const starting = this.#start(beginning, signal);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  /** Returns the terminal with this id, or the only one. Throws `ERR_BASH_UNKNOWN_TASK`, which lists the ids. */
  get(id: string | null | undefined): Terminal {
    this.#checkOpen();
    const all = [...this.#terminals.values()];
    const running = all.filter((terminal) => terminal.running);
    const [only, ...others] = running.length > 0 ? running : all;
    const found = id == null ? (others.length === 0 ? only : undefined) : this.#terminals.get(id);
    if (found) return found;
    const problem = id == null ? 'id is needed' : `there is no terminal ${JSON.stringify(shortened(id))}`;
    const hint = all.length === 0 ? 'none was started' : `there are ${named(this.list())}`;
    throw new BashError('ERR_BASH_UNKNOWN_TASK', `${problem}: ${hint}`);
  }

  /** Lists all terminals in the order they started. */
  list(): TerminalState[] {
    this.#checkOpen();
    return [...this.#terminals.values()].map((terminal) => terminal.state());
  }

  /** Ends all terminals, including those that are starting. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await Promise.allSettled([...this.#terminals.values()].map((terminal) => terminal.stop()));
    this.#terminals.clear();
  }

  async #start(beginning: Beginning, signal: AbortSignal | undefined): Promise<Terminal> {
    this.#last += 1;
    const id = `t${this.#last}`;
    const terminal = new Terminal(id, beginning);
    await terminal.start(signal);
    this.#terminals.set(id, terminal);
    void terminal.ended.then(() => this.#forget());
    return terminal;
  }

  #forget(): void {
    const ended = [...this.#terminals].filter(([, terminal]) => !terminal.running);
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#terminals.delete(id);
  }

  #checkOpen(): void {
    if (this.#closed) throw new BashError('ERR_BASH_CLOSED', 'the terminals of this tool were closed');
  }
}

function named(states: TerminalState[]): string {
  return states.map(({ id, end }) => (end ? `${id} (ended)` : id)).join(', ');
}

function shortened(id: string): string {
  return id.length > 20 ? `${id.slice(0, 20)}…` : id;
}
