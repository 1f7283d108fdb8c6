import { type BashOptions, type BashResult, bash, type OutputChunk, PtySession } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { STREAMS, type Streams } from '../../core/streams.ts';
import { signalGroup } from '../../sandbox/signal.ts';

const INTERRUPT = '\u0003';
/** The longest time that a timer can have, in ms. */
const LONGEST_MS = 2 ** 31 - 1;
/** What is kept of an output between two reads. */
const UNREAD = { keep: 'tail', maxBytes: 1024 * 1024 };
const BYTES_PER_TOKEN = 4;
/** The most that can be kept of an output, in bytes. */
const MOST_KEPT = 16 * 1024 * 1024;

/** The end of a command, and what a model must know of it. */
export interface End {
  exitCode: number;
  told: string;
  /** The text that a model reads in place of the whole output. */
  view?: string | undefined;
}

/** Runs a command whose streams are held by `start`. Never rejects. */
export type Running = (own: Pick<Required<BashOptions>, 'onOutput'> & { start: Start }) => Promise<End>;

type Start = (command: string, options: BashOptions) => Promise<BashResult>;

/** A command that may go on after a call, and its output that nobody has read yet. */
export class Live {
  readonly #sanitize: BashOptions['sanitize'];
  readonly #began: Promise<unknown>;
  readonly #ended: Promise<void>;
  #type: ((chars: string) => void) | undefined;
  #begin: () => void = () => {};
  #unread = new Map<'output' | 'stdout' | 'stderr', Kept>();
  #wasRead = false;
  #end: End | null = null;

  constructor(tty: boolean, sanitize: BashOptions['sanitize'], run: Running) {
    this.#sanitize = sanitize;
    const began = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    const start: Start = tty ? (...order) => this.#inTerminal(...order) : (...order) => this.#inPipes(...order);
    this.#ended = run({ start, onOutput: (chunk) => this.#push(chunk) }).then((end) => {
      this.#end = end;
    });
    this.#began = Promise.race([began, this.#ended]);
  }

  /** Types characters. The interrupt goes to all processes of a command without a terminal. */
  type(chars: string): void {
    if (chars !== '') this.#type?.(chars);
  }

  /** Returns the unread output once the command has ended, or this many ms after its start or this call. */
  async read(waitMs: number): Promise<Record<'output' | 'stdout' | 'stderr', string> & { end: End | null }> {
    await this.#began;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(waitMs, LONGEST_MS));
    });
    await Promise.race([this.#ended, over]);
    clearTimeout(timer);
    const view = this.#wasRead ? undefined : this.#end?.view;
    this.#wasRead = true;
    const [output, stdout, stderr] = [this.#take('output'), this.#take('stdout'), this.#take('stderr')];
    return { output: view ?? output, stdout, stderr, end: this.#end };
  }

  #push({ stream, text }: OutputChunk): void {
    const bytes = Buffer.from(text);
    for (const name of ['output', stream] as const) {
      const kept = this.#unread.get(name) ?? keeper(name === 'stderr', UNREAD, this.#sanitize);
      this.#unread.set(name, kept);
      kept.push(bytes);
    }
  }

  #take(name: 'output' | 'stdout' | 'stderr'): string {
    const kept = this.#unread.get(name);
    this.#unread.delete(name);
    kept?.end();
    return kept?.finish()?.text ?? '';
  }

  #inPipes(command: string, options: BashOptions): Promise<BashResult> {
    const streams: Streams = {
      bytes: false,
      fed: true,
      started: (pid, input) => {
        let written: Promise<unknown> = Promise.resolve();
        this.#type = (chars) => {
          const rest = chars.replaceAll(INTERRUPT, '');
          if (rest.length < chars.length) signalGroup(pid, 'SIGINT');
          if (rest !== '') written = written.then(() => input.write(Buffer.from(rest)));
        };
        this.#begin();
      },
      over: () => {
        this.#type = undefined;
      },
    };
    const held: BashOptions & { [STREAMS]: Streams } = { ...options, [STREAMS]: streams };
    return bash(command, held);
  }

  async #inTerminal(command: string, options: BashOptions): Promise<BashResult> {
    const terminal = new PtySession(options);
    await terminal.start(command);
    // The program may end at any time, and then reads nothing more.
    this.#type = (chars) => void terminal.write(chars).catch(() => {});
    this.#begin();
    return await terminal.result();
  }
}

type Kept = ReturnType<typeof keeper>;

function keeper(stderr: boolean, truncate: object, sanitize: BashOptions['sanitize'] = true) {
  const { NativeText } = innerOf(bash);
  return new NativeText(stderr, JSON.stringify({ truncate, sanitize }), 0);
}

/** Returns both ends of a text within this many tokens, and the tokens that it had if it was cut. */
export function cutTo(tokens: number | undefined, text: string): { text: string; originalTokenCount?: number } {
  if (tokens === undefined) return { text };
  const maxBytes = Math.min(Math.max(tokens, 1) * BYTES_PER_TOKEN, MOST_KEPT);
  const half = maxBytes / 2;
  const kept = keeper(false, { keep: 'ends', maxBytes, headBytes: half, tailBytes: half }, false);
  kept.push(Buffer.from(text));
  kept.end();
  const { text: ends, truncation } = kept.finish() ?? { text, truncation: null };
  if (truncation === null) return { text };
  return { text: ends, originalTokenCount: Math.ceil(truncation.totalBytes / BYTES_PER_TOKEN) };
}
