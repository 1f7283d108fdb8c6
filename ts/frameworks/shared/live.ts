import { constants } from 'node:os';
import { type BashOptions, type BashResult, type OutputChunk, PtySession } from 'agent-bash';
import { processesOf } from '../../sandbox/processes.ts';
import type { Command } from './commands.ts';
import { startWith } from './running-command.ts';
import { atOnce, KEPT_BYTES, type Kept, keeper } from './tail.ts';

const INTERRUPT = '\u0003';
/** The longest time that a timer can have, in ms. */
const LONGEST_MS = 2 ** 31 - 1;
/** The part of an output that is kept between two reads. */
const UNREAD = { keep: 'tail', maxBytes: KEPT_BYTES };
const NAMES = ['output', 'stdout', 'stderr'] as const;

/** What a live command sets of its run. */
export type Held = Required<Pick<Command, 'start' | 'onOutput'>> & Pick<Command, 'sanitize'>;

/** A text that is cleaned and within 1 MiB. */
interface Unread {
  text: string;
  /** The line that says what is missing before the text, or `''`. */
  notice: string;
  /** The bytes that it had if it was cut, else `null`. */
  ofBytes: number | null;
}

/** What came since the last read; `output` has both streams as they came. `first`: whether nothing was read before. */
export type Read<End> = Record<(typeof NAMES)[number], Unread> & { end: End | null; first: boolean };

/** A command that may go on after a call: its output is read in parts, and it is typed into. */
export class Live<End> {
  readonly #sanitize: NonNullable<BashOptions['sanitize']>;
  readonly #unread = new Map<(typeof NAMES)[number], Kept>();
  readonly #ended: Promise<void>;
  readonly #begun: Promise<unknown>;
  #onBegun: () => void = () => {};
  #type: (chars: string) => void = () => {};
  #end: End | null = null;
  #first = true;

  /** `run` runs the command with these options, for example by `Commands`, and never rejects. */
  constructor(
    { tty, sanitize = true }: { tty: boolean } & Pick<BashOptions, 'sanitize'>,
    run: (held: Held) => Promise<End>,
  ) {
    this.#sanitize = sanitize;
    const begun = new Promise<void>((resolve) => {
      this.#onBegun = resolve;
    });
    this.#ended = run({
      start: (...order) => (tty ? this.#inTerminal(...order) : this.#inPipes(...order)),
      onOutput: (chunk) => this.#push(chunk),
      sanitize: atOnce(sanitize),
    }).then((end) => {
      this.#end = end;
    });
    this.#begun = Promise.race([begun, this.#ended]);
  }

  /** Types characters. Without a terminal, `\u0003` is SIGINT for all processes of the command's group. */
  type(chars: string): void {
    if (chars !== '') this.#type(chars);
  }

  /** Returns what came at the end of the command, or this many ms after its start if that is later than this call. */
  async read(waitMs: number): Promise<Read<End>> {
    await this.#begun;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(waitMs, LONGEST_MS));
    });
    await Promise.race([this.#ended, over]);
    clearTimeout(timer);
    const [output, stdout, stderr] = NAMES.map((name) => finish(this.#unread.get(name))) as [Unread, Unread, Unread];
    this.#unread.clear();
    const first = this.#first;
    this.#first = false;
    return { output, stdout, stderr, end: this.#end, first };
  }

  #push({ stream, text }: OutputChunk): void {
    const bytes = Buffer.from(text);
    for (const name of ['output', stream] as const) {
      const kept = this.#unread.get(name) ?? keeper(UNREAD, this.#sanitize, name === 'stderr');
      this.#unread.set(name, kept);
      kept.push(bytes);
    }
  }

  async #inPipes(command: string, options: BashOptions): Promise<BashResult> {
    const processes = processesOf(options);
    const start = startWith({
      fed: true,
      started: (pid, input) => {
        let written: Promise<unknown> = Promise.resolve();
        this.#type = (chars) => {
          const rest = chars.replaceAll(INTERRUPT, '');
          if (rest.length < chars.length) processes.signalGroup(pid, constants.signals.SIGINT).catch(() => {});
          if (rest !== '') written = written.then(() => input.write(Buffer.from(rest)));
        };
        this.#onBegun();
      },
      // The pid may soon be that of another process.
      over: () => {
        this.#type = () => {};
      },
    });
    return await start(command, options);
  }

  async #inTerminal(command: string, options: BashOptions): Promise<BashResult> {
    const terminal = new PtySession(options);
    await terminal.start(command);
    // After its end a program takes nothing more.
    this.#type = (chars) => void terminal.write(chars).catch(() => {});
    this.#onBegun();
    return await terminal.result();
  }
}

function finish(kept: Kept | undefined): Unread {
  kept?.end();
  const { text = '', truncation } = kept?.finish() ?? {};
  const { notice = '', totalBytes: ofBytes = null } = truncation ?? {};
  return { text: text.slice(0, text.length - notice.length), notice, ofBytes };
}

/** Returns both ends of a text in at most this many bytes, and the bytes that it had if it was cut, else `null`. */
export function bothEnds(text: string, maxBytes: number): { text: string; ofBytes: number | null } {
  const tailBytes = Math.floor(maxBytes / 2);
  const kept = keeper({ keep: 'ends', maxBytes, headBytes: maxBytes - tailBytes, tailBytes }, false);
  kept.push(Buffer.from(text));
  kept.end();
  const ends = kept.finish();
  return { text: ends?.text ?? text, ofBytes: ends?.truncation?.totalBytes ?? null };
}
