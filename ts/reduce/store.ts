import type { NativeView } from '../../native.cjs';
import { resolve, rmSync, statSync } from '../core/builtins.ts';
import { type Checks, checkFields, invalid, type, wholeNumber } from '../core/checks.ts';
import { linesOf } from '../core/lines.ts';
import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';
import type { TapStore } from '../evidence/tap.ts';
import { channels } from '../observe/channels.ts';
import type { There } from '../target/handle.ts';
import { OutputFiles } from './files.ts';
import { type Keeper, type Keeping, type Output, type Reduce, STORE, STORE_BYTES } from './keeping.ts';
import { RuleLedger, type RuleStats } from './ledger.ts';
import { allOf, linesIn, matchesIn, type Part, removeThere } from './read.ts';
import type { View } from './types.ts';
import { closedView, draftOf, foldedView, gains, named, viewOf } from './view.ts';
import { partHere, type Whole, wholeOfText } from './whole.ts';

/** Options of an `OutputStore`. */
export interface OutputStoreOptions {
  /**
   * The directory of the files. It is made with mode 0700 if it does not exist.
   *
   * @default a directory in the temporary directory, which is removed with this process
   * @example new OutputStore({ dir: '/srv/project/.agent/outputs' });
   */
  dir?: string | undefined;
  /**
   * Bytes of all outputs together. The oldest outputs are forgotten first. Nothing is left out of a larger output.
   *
   * @default 256 MiB
   * @example new OutputStore({ maxBytes: 64 * 1024 * 1024 });
   */
  maxBytes?: number | undefined;
}

/** The lines to read of an output. Without an option, all lines. */
export interface OutputRange {
  /** The first and the last line, from 1, through both streams. */
  lines?: [number, number] | undefined;
  /**
   * A regular expression for the lines, in the syntax of rules (docs/tokens.md): `(?i)` ignores case, and there is no
   * look-around. Any search takes one step per byte. Lines over 50 KiB are not searched.
   */
  pattern?: string | undefined;
}

const CHECKS: Checks<OutputStoreOptions> = { dir: type('string'), maxBytes: wholeNumber(1) };
const RANGE_CHECKS: Checks<OutputRange> = {
  lines: (value, name) => {
    const isLine = (each: unknown) => Number.isSafeInteger(each) && (each as number) >= 1;
    const isRange = Array.isArray(value) && value.length === 2 && value.every(isLine) && value[0] <= value[1];
    if (!isRange) throw invalid(name, value, 'the numbers of the first and the last line');
  },
  pattern: type('string'),
};

/** Lines that a view left out, counted through both streams. */
interface Gap {
  from: number;
  to: number;
  rule: string;
  tokens: number;
}

interface KeptOutput {
  parts: Part[];
  /** Bytes of the parts that are deleted with it. */
  bytes: number;
  gaps: Gap[];
}

/** The methods of a store that only the main entry calls. */
export interface InnerKeeper extends Keeper, TapStore {
  /**
   * Writes a whole output, and resolves with the view of its draft. Resolves with `null` if the output cannot be
   * written, or is larger than the store.
   */
  keep(whole: Whole, draft: NativeView, recall: boolean): Promise<View | null>;
}

/**
 * Keeps the outputs whose views left out lines, so that a model can recall them. Each output is a file that only this
 * user can read: standard output, then standard error.
 *
 * @example
 * const outputs = new OutputStore({ maxBytes: 64 * 1024 * 1024 });
 * outputs.stats(); // [{ rule: 'budget', saved: 12_400, recalled: 310 }]
 */
export class OutputStore {
  readonly #files: OutputFiles;
  readonly #maxBytes: number;
  readonly #outputs = new Map<number, KeptOutput>();
  readonly #ledger = new RuleLedger((stats) => {
    if (channels.ruleRetired.hasSubscribers) channels.ruleRetired.publish(stats);
  });
  /** Outputs that are being written, by their number. */
  readonly #holding = new Map<number, Promise<string | null>>();
  #bytes = 0;
  #last = 0;
  #closed = false;

  /** @throws a `BashError`, `ERR_BASH_INVALID_ARG`, for a wrong type and an unknown option. */
  constructor(options: OutputStoreOptions = {}) {
    checkFields<OutputStoreOptions>('OutputStore', options, CHECKS);
    this.#files = new OutputFiles(options.dir === undefined ? null : resolve(options.dir));
    this.#maxBytes = options.maxBytes ?? STORE_BYTES;
    Object.defineProperty(this, STORE, { value: this.#keeper() });
  }

  /**
   * Resolves with an unchanged output, byte for byte, or with lines of it; what a tap kept is cleaned as any output. A
   * range past the end gives the existing lines. Rejects with `ERR_BASH_UNKNOWN_OUTPUT` for an output that is unknown
   * or forgotten, and with `ERR_BASH_INVALID_ARG` for a wrong type.
   *
   * @example await outputs.read(12, { lines: [40, 95] });
   */
  async read(id: number, range: OutputRange = {}): Promise<string> {
    checkFields<OutputRange>('read', range, RANGE_CHECKS, 'range');
    const output = this.#outputs.get(id);
    if (!output) throw new BashError('ERR_BASH_UNKNOWN_OUTPUT', `there is no output ${String(id)}`);
    const { lines, pattern } = range;
    try {
      if (pattern !== undefined) return await matchesIn(output.parts, pattern);
      return lines ? await linesIn(output.parts, ...lines) : await allOf(output.parts);
    } catch (error) {
      if (error instanceof BashError) throw error;
      const reason = (error as Error).message;
      throw new BashError('ERR_BASH_UNKNOWN_OUTPUT', `output ${id} cannot be read: ${reason}`);
    }
  }

  /**
   * Deletes the file of an output, or all of them. An unknown number is no error.
   *
   * @throws the system's error if a file cannot be deleted. The others are deleted, and all are forgotten.
   */
  forget(id?: number): void {
    const failed = (id === undefined ? [...this.#outputs.keys()] : [id]).map((known) => this.#forget(known));
    const error = failed.find((each) => each !== null);
    if (error) throw error;
  }

  /** Forgets an output. Returns the reason why its file could not be deleted. */
  #forget(id: number): Error | null {
    const output = this.#outputs.get(id);
    if (!output) return null;
    this.#outputs.delete(id);
    this.#bytes -= output.bytes;
    return output.parts.map((part) => this.#deleted(part)).find((error) => error !== null) ?? null;
  }

  /** Deletes a file of this store. Returns the reason if it could not be deleted. */
  #deleted({ path, there, isRaw }: Part): Error | null {
    try {
      // The whole of a stream that was cut there belongs to the caller, as its path is in the result.
      if (there) {
        if (isRaw) removeThere(there, path);
        return null;
      }
      this.#files.delete(path);
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  /** Returns the estimated tokens that each rule left out, and how many of these were recalled. */
  stats(): RuleStats[] {
    return this.#ledger.stats();
  }

  /** Deletes all files. From then on nothing is left out of outputs that this store would keep. */
  async close(): Promise<void> {
    this.#closed = true;
    try {
      this.forget();
    } finally {
      await this.#files.close();
    }
  }

  /** The methods that only this package calls. */
  #keeper(): InnerKeeper {
    const ledger = this.#ledger;
    return {
      get off() {
        return ledger.retired;
      },
      maxBytes: this.#maxBytes,
      view: (output, reduce, how) => this.#view(output, reduce, how),
      take: (path, bytes, there) => (there ? this.#refer(path, bytes, there) : this.#take(path)),
      keep: (whole, draft, recall) => this.#keep(whole, draft, recall),
      recall: (text) => this.#recall(text),
      again: (id) => this.#noteRecall(id, 1, Number.MAX_SAFE_INTEGER),
      number: () => this.#number(),
      knows: (id) => this.#outputs.has(id),
      hold: (id, text) => {
        const path = this.#holding.get(id) ?? this.#hold(id, text);
        this.#holding.set(id, path);
        return path.finally(() => this.#holding.delete(id));
      },
      drop: (output) => this.#drop(output),
    };
  }

  async #view(output: Output, reduce: Reduce, { recall, earlier }: Omit<Keeping, 'store'>): Promise<View | null> {
    if (reduce === 'off') return null;
    const draft = draftOf(output, reduce, { off: this.#ledger.retired, earlier });
    if (!gains(draft)) return null;
    // Lines that the model reads elsewhere are not missing.
    if (draft.elided.every(({ why }) => why === 'seen')) return viewOf(draft);
    return (await this.#keep(wholeOfText(output), draft, recall)) ?? foldedView(output);
  }

  async #keep(whole: Whole, draft: NativeView, recall: boolean): Promise<View | null> {
    const here = partHere(whole);
    if (this.#closed || here.bytes > this.#maxBytes) return null;
    let place: { id: number; path: string };
    try {
      place = here.bytes > 0 ? await this.#files.write(here, () => ++this.#last) : { id: this.#number(), path: '' };
    } catch {
      return null;
    }
    const { id, path } = place;
    // The store may have been closed meanwhile.
    if (this.#closed) {
      if (path !== '') this.#deleted({ path });
      return null;
    }
    const gaps = gapsOf(draft, whole);
    for (const { rule, tokens } of gaps) this.#ledger.save(rule, tokens);
    const parts = whole.there ? partsOf(whole, path, draft) : [{ path }];
    this.#add(id, { parts, bytes: here.bytes, gaps });
    return closedView(draft, recall ? id : 0, onePlace(parts, whole.there));
  }

  async #take(from: string): Promise<{ id: number; path: string } | string> {
    const kept = await this.#taken(from);
    // Nobody else knows of the file.
    if (typeof kept === 'string') rmSync(from, { force: true });
    return kept;
  }

  async #taken(from: string): Promise<{ id: number; path: string } | string> {
    if (this.#closed) return CLOSED;
    try {
      const bytes = statSync(from).size;
      if (bytes > this.#maxBytes) return TOO_LARGE;
      const place = await this.#files.take(from, () => ++this.#last);
      // The store may have been closed meanwhile.
      if (this.#closed) {
        this.#deleted(place);
        return CLOSED;
      }
      this.#add(place.id, { parts: [{ path: place.path, isRaw: true }], bytes, gaps: [] });
      return place;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Keeps a file of a target, which stays there. */
  async #refer(path: string, bytes: number, there: There): Promise<{ id: number; path: string } | string> {
    const why = this.#closed ? CLOSED : bytes > this.#maxBytes ? TOO_LARGE : null;
    if (why !== null) {
      removeThere(there, path);
      return why;
    }
    const id = this.#number();
    this.#add(id, { parts: [{ path, isRaw: true, there }], bytes, gaps: [] });
    return { id, path };
  }

  #add(id: number, output: KeptOutput): void {
    this.#outputs.set(id, output);
    this.#bytes += output.bytes;
    for (const oldest of this.#outputs.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === id) break;
      // A file that cannot be deleted is no fault of the command whose output is kept.
      this.#forget(oldest);
    }
  }

  #number(): number {
    do this.#last += 1;
    while (this.#files.has(this.#last));
    return this.#last;
  }

  /** Keeps an output whose view leaves out nothing, since a later view refers to it. */
  async #hold(id: number, text: string): Promise<string | null> {
    const known = this.#outputs.get(id);
    if (known) return known.parts[0]?.path ?? null;
    const whole = wholeOfText({ stdout: text, stderr: '' });
    if (this.#closed || whole.bytes > this.#maxBytes) return null;
    try {
      const path = await this.#files.writeAs(id, whole);
      if (this.#closed) {
        this.#deleted({ path });
        return null;
      }
      this.#add(id, { parts: [{ path }], bytes: whole.bytes, gaps: [] });
      return path;
    } catch {
      return null;
    }
  }

  #drop({ id, path }: Pick<View, 'id' | 'path'>): void {
    const isIt = (known: number, { parts }: KeptOutput) => known === id || parts.some((part) => part.path === path);
    for (const [known, output] of this.#outputs) if (isIt(known, output)) this.#forget(known);
  }

  async #recall(request: string): Promise<string | { error: string; code: string }> {
    try {
      const { id, lines, pattern } = named(() => loadNative().readRecall(request));
      const range = { ...(lines && { lines: lines as [number, number] }), ...(pattern !== null && { pattern }) };
      const text = await this.read(id, range);
      this.#noteRecall(id, ...(range.lines ?? ([1, Number.MAX_SAFE_INTEGER] as const)));
      return text;
    } catch (error) {
      const { message, code } = error as BashError;
      return { error: message, code };
    }
  }

  /** Notes for each rule the part of a recall that it had left out. */
  #noteRecall(id: number, from: number, to: number): void {
    const recalled = new Map<string, number>();
    for (const gap of this.#outputs.get(id)?.gaps ?? []) {
      const lines = Math.min(to, gap.to) - Math.max(from, gap.from) + 1;
      if (lines <= 0) continue;
      const tokens = (gap.tokens * lines) / (gap.to - gap.from + 1);
      recalled.set(gap.rule, (recalled.get(gap.rule) ?? 0) + tokens);
    }
    for (const [rule, tokens] of recalled) this.#ledger.recall(rule, Math.round(tokens));
  }
}

const CLOSED = 'the store of outputs is closed';
const TOO_LARGE = 'it is larger than the store of outputs';

/** Returns the files of an output of a target. `here`: the file with what has crossed. */
function partsOf({ sources, there }: Whole, here: string, { lines: [stdout, stderr] }: NativeView): Part[] {
  const counts = [stdout, stderr].filter((count) => count > 0);
  return sources.map((source, at) => {
    const lines = counts[at] ?? 0;
    return 'text' in source ? { path: here, lines } : { path: source.path, there, lines };
  });
}

/** Returns the path of the file that has all of an output, for commands of its target. */
function onePlace([part, more]: Part[], there: There | undefined): string | null {
  return part && !more && part.there === there ? part.path : null;
}

/** Returns the gaps of a draft. Each line of an output that is in a file counts as the average of those left out. */
function gapsOf({ elided, lines: [before], tokens }: NativeView, { sources }: Whole): Gap[] {
  const { estimateTokens } = loadNative();
  const texts = sources.map((source) => ('text' in source ? linesOf(source.text) : null));
  const lines = texts.includes(null) ? null : texts.flatMap((text) => text ?? []);
  const missing = elided.reduce((sum, { fromLine, toLine }) => sum + toLine - fromLine + 1, 0);
  return elided.map(({ stream, fromLine, toLine, why }) => {
    const offset = stream === 'stderr' ? before : 0;
    const [from, to] = [fromLine + offset, toLine + offset];
    const left = lines
      ? estimateTokens(lines.slice(from - 1, to).join('\n'))
      : Math.round(((tokens.before - tokens.after) * (to - from + 1)) / missing);
    return { from, to, rule: why, tokens: left };
  });
}
