import { type BashOptions, PtySession } from 'agent-bash';
import { messageOf } from '../../listener.ts';
import type { Modes } from './typed.ts';
import type { TerminalEnd, TerminalReason, TerminalState, TerminalView } from './types.ts';
import { type Until, type Waited, waitFor } from './wait.ts';

/** How long typing may take, in ms: a program that does not read takes what its terminal holds, and no more. */
const WRITE_MS = 5_000;

type Screen = ReturnType<PtySession['screen']>;

/** What a terminal is started with. */
export interface Beginning {
  command: string;
  options: BashOptions;
  cols: number;
  rows: number;
}

/** A program in a terminal, while it runs and after. */
export class Terminal implements Waited {
  readonly #id: string;
  readonly #command: string;
  readonly #listeners = new Set<() => void>();
  /** A start may have to wait for its turn. */
  readonly #unwanted = new AbortController();
  #pid = 0;
  /** `null` once it has ended: then the last screen is all that is kept. */
  #pty: PtySession | null;
  #screen: Screen;
  #size: { cols: number; rows: number };
  #end: TerminalEnd | null = null;
  #endNotes: string[] = [];
  #ended: Promise<void> = Promise.resolve();
  #seen: string[] | null = null;
  #outputs = 0;

  /** Starts nothing yet. Throws for options that cannot be. */
  constructor(id: string, { command, options, cols, rows }: Beginning) {
    this.#id = id;
    this.#command = command;
    this.#size = { cols, rows };
    // Who listens to `data` is taken for one who draws, and then asked what the program asks of its terminal. What is not cleaned is told
    // as it comes, and only that something was written counts here.
    const onOutput = () => {
      this.#outputs += 1;
      this.#tell();
    };
    const signal = AbortSignal.any([this.#unwanted.signal, ...(options.signal ? [options.signal] : [])]);
    this.#pty = new PtySession({ ...options, cols, rows, signal, sanitize: false, spill: false, onOutput });
    this.#screen = this.#pty.screen();
  }

  /** Resolves when the program runs, or when `signal` was aborted before it did: it has ended then. Rejects as a start of a `PtySession` does. */
  async start(signal: AbortSignal | undefined): Promise<void> {
    const pty = this.#pty as PtySession;
    const onAbort = () => this.#unwanted.abort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#pid = (await pty.start(this.#command)).pid;
      // A model leaves programs open; an agent that is done ends, and hangs up on them.
      pty.unref();
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
    this.#ended = pty.result().then(
      ({ status, exitCode, signal, notes }) => {
        // A terminal does not go to the background.
        this.#end = { status: status === 'backgrounded' ? 'aborted' : status, exitCode: exitCode ?? 130, signal };
        this.#endNotes = notes;
        this.#screen = pty.screen();
        this.#pty = null;
        this.#tell();
      },
      (error) => {
        this.#end = { status: 'aborted', exitCode: 130, signal: null };
        this.#endNotes = [messageOf(error)];
        this.#pty = null;
        this.#tell();
      },
    );
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** What the program has asked of the keyboard. */
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

  /** The screen as the model is to see it; what it has seen is what the next look is compared with. */
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
      notes: [...notes, ...this.#endNotes],
    };
  }

  /** Resolves with what has come first, the end of the program or what is waited for. Rejects when `appears` throws. */
  until(until: Until): Promise<TerminalReason> {
    return waitFor(this, until);
  }

  /** Types; gives `false` when the program has not read all of it for as long as is waited. What it has not read stays to be read. */
  async type(text: string, signal: AbortSignal | undefined): Promise<boolean> {
    if (text === '' || this.#pty === null) return true;
    let late: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const given = new Promise<boolean>((resolve) => {
      onAbort = () => resolve(false);
      late = setTimeout(onAbort, WRITE_MS);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    // A program that ends while it is typed to is no error: the screen tells.
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

  /** The size that is not given stays. Throws what the session throws for sizes that cannot be. */
  resize(cols: number | null | undefined, rows: number | null | undefined): void {
    const size = { cols: cols ?? this.#size.cols, rows: rows ?? this.#size.rows };
    this.#pty?.resize(size.cols, size.rows);
    this.#size = size;
    // Rows are others than they were.
    this.#seen = null;
  }

  /** Ends the program and all it started; resolves when that has happened. */
  async stop(): Promise<void> {
    await this.#pty?.kill();
    await this.#ended;
  }

  /** A prompt keeps the blank behind it, which the cursor stands after: one, since columns are no characters. */
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

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #now(): Screen {
    return this.#pty?.screen() ?? this.#screen;
  }
}

function withoutLastBlank(lines: string[]): string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
