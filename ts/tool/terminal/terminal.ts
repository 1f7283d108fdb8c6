import { type BashOptions, type BashResult, type Confinement, PtySession } from 'agent-bash';
import { messageOf } from '../../core/listener.ts';
import type { Modes } from './keystrokes.ts';
import type { TerminalEnd, TerminalReason, TerminalState, TerminalView } from './types.ts';
import { type Until, type Watched, waitFor } from './wait.ts';

/** Time typing may take, in ms. A program that does not read takes no more than its terminal's buffer holds. */
const WRITE_MS = 5_000;

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
  #record: Pick<BashResult, 'receipt' | 'undo'> & { runId: string | null } = { runId: null, receipt: null, undo: null };
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
      ({ status, exitCode, signal, confinement, notes, runId, receipt, undo }) => {
        // A terminal never moves to the background.
        this.#end = { status: status === 'backgrounded' ? 'aborted' : status, exitCode: exitCode ?? 130, signal };
        this.#endNotes = notes;
        this.#confinement = confinement;
        this.#record = { runId, receipt, undo };
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
