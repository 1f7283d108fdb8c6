import { type BashResult, bash, type OutputChunk, type Truncate, type Truncation } from 'agent-bash';
import type { NativeCut } from '../../../native.cjs';
import { innerOf } from '../../core/inner.ts';
import { withoutNotice } from '../../core/notice.ts';
import type { OutlineCommand, OutlinePipeline } from '../../core/outline.ts';
import type { BashToolInput } from '../types.ts';

/** A `| head …` or `| tail …` behind a command, and the command without it. */
export interface TrailingLimit {
  command: string;
  keep: 'head' | 'tail';
  lines: number;
}

/** Lines that `head` and `tail` print by default. */
const DEFAULT_LINES = 10;
/** Most commands end otherwise and need no parsing. */
const ENDS_IN_LIMIT = /\b(head|tail)[-=\w \t]{0,40}\s*$/;
/** The stages that may precede the limit. A `case`, a function, a test or a coprocess is left alone. */
const STAGES: readonly OutlineCommand['kind'][] = ['simple', 'group', 'subshell', 'if', 'loop', 'for'];

/**
 * Finds a trailing `| head` or `| tail` that can be removed without changing the effect of the command: the whole
 * command is one pipeline, with at most a `cd X &&` before it. `null` leaves the command unchanged.
 *
 * The text before the pipe stays byte for byte, `2>&1` included, so the same bytes are counted.
 */
export function trailingLimit(command: string): TrailingLimit | null {
  if (!ENDS_IN_LIMIT.test(command)) return null;
  const { complete, heredocs, pipelines } = innerOf(bash).outlineOf(command);
  // The body of a heredoc lies behind the pipe.
  if (!complete || heredocs || isCommented(command, pipelines)) return null;
  const stages = onlyPipeline(pipelines);
  const before = stages?.at(-2);
  const last = stages?.at(-1);
  if (stages === null || before === undefined || last === undefined || !stages.every(isStage)) return null;
  const limit = limitOf(command, last);
  if (limit === null) return null;
  const kept = command.slice(0, before.span[1]);
  return { ...limit, command: before.pipesStderr ? `${kept} 2>&1` : kept };
}

/** Returns whether a comment lies between the commands. No other text there holds a `#`. */
function isCommented(command: string, pipelines: OutlinePipeline[]): boolean {
  let at = 0;
  for (const { span } of pipelines.flatMap(({ commands }) => commands)) {
    if (command.slice(at, span[0]).includes('#')) return true;
    at = span[1];
  }
  return command.slice(at).includes('#');
}

/** Returns the commands of the only pipeline, or of the one after `cd X &&`. */
function onlyPipeline(pipelines: OutlinePipeline[]): OutlineCommand[] | null {
  if (pipelines.some(({ negated, background }) => negated || background)) return null;
  const [first, second, ...others] = pipelines;
  if (first === undefined || others.length > 0) return null;
  if (second === undefined) return first.commands;
  return second.join === '&&' && isCd(first) ? second.commands : null;
}

function isCd({ commands: [cd, ...others] }: OutlinePipeline): boolean {
  if (cd === undefined || others.length > 0 || cd.assignments + cd.redirects > 0) return false;
  const [program, directory, ...more] = cd.words;
  if (program?.text !== 'cd' || directory === undefined || more.length > 0) return false;
  // `cd -` prints the directory, and that line does not pass the pipe.
  return !directory.text.startsWith('-');
}

/** An assignment alone is not a stage: without the pipe it would last. */
function isStage({ kind, words }: OutlineCommand): boolean {
  return STAGES.includes(kind) && (kind !== 'simple' || words.length > 0);
}

/** Returns the limit that the last stage sets, if the stage does nothing else. */
function limitOf(command: string, stage: OutlineCommand): Omit<TrailingLimit, 'command'> | null {
  if (stage.kind !== 'simple' || stage.assignments + stage.redirects > 0) return null;
  const words = stage.words.map(({ span }) => command.slice(...span)).join(' ');
  const match = /^(head|tail)(?: (?:-n ?|--lines[= ]|-)([1-9]\d{0,8}))?$/.exec(words);
  if (match === null) return null;
  return { keep: match[1] as 'head' | 'tail', lines: match[2] === undefined ? DEFAULT_LINES : Number(match[2]) };
}

/** Time a command may run after its last wanted line, in ms. */
export const AFTER_LAST_LINE_MS = 2_000;
/** Bytes it may write in that time before its pipe is held. `yes | head` must not fill a disk. */
const AFTER_LAST_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Does what `head` does to the command before it: ends the command 2 s after the last wanted line of stdout. A command
 * that exits within that time keeps its exit code.
 */
export class HeadStop {
  readonly #lines: number;
  readonly #end: () => void;
  #seen = 0;
  #written = 0;
  #timer: NodeJS.Timeout | undefined;
  #release: () => void = () => {};
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  /** `end` is called once, after that time. */
  constructor(lines: number, end: () => void) {
    this.#lines = lines;
    this.#end = end;
  }

  /** The `onOutput` listener. */
  readonly onOutput = ({ stream, text }: OutputChunk): void | Promise<void> => {
    if (this.#timer !== undefined) {
      this.#written += text.length;
      if (this.#written > AFTER_LAST_LINE_BYTES) return this.#released;
    } else if (stream === 'stdout') {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#seen += 1;
      if (this.#seen >= this.#lines) {
        this.#timer = setTimeout(() => {
          this.#release();
          this.#end();
        }, AFTER_LAST_LINE_MS);
      }
    }
  };

  /** Releases the command's pipe. Called when the command has exited or is being ended. */
  close(): void {
    clearTimeout(this.#timer);
    this.#release();
  }

  /** Returns the plain success that the pipe would have had, if the command was ended after its last wanted line. */
  outcome(result: BashResult, abortedByCaller: boolean): BashResult {
    const ended = result.status === 'timed-out' || (result.status === 'aborted' && !abortedByCaller);
    if (this.#timer === undefined || !ended) return result;
    const lines = this.#lines === 1 ? 'the first line' : `the first ${this.#lines} lines`;
    const note = `the command was ended after ${lines} of stdout, as head asks`;
    return { ...result, status: 'exited', exitCode: 0, signal: null, notes: [...result.notes, note] };
  }
}

/** A cut by lines. A trailing pipe limits stdout, as the pipe did. The inputs `head` and `tail` limit each stream. */
export interface LineLimit {
  keep: 'head' | 'tail';
  lines: number;
  streams: 'both' | 'stdout';
}

/**
 * Returns the cuts of a call in the order they are made, the command's own first. An input replaces a trailing pipe of
 * its kind.
 */
export function lineLimits(trailing: TrailingLimit | null, input: Pick<BashToolInput, 'head' | 'tail'>): LineLimit[] {
  const order = trailing?.keep === 'tail' ? (['tail', 'head'] as const) : (['head', 'tail'] as const);
  return order.flatMap((keep): LineLimit[] => {
    const asked = input[keep];
    if (asked != null) return [{ keep, lines: asked, streams: 'both' }];
    return trailing?.keep === keep ? [{ keep, lines: trailing.lines, streams: 'stdout' }] : [];
  });
}

/**
 * Returns the truncation with which the run keeps the lines for the first cut: the tool's own limits, at the wanted
 * end. If the cut applies to both streams, the run makes the cut.
 */
export function truncateFor(limit: LineLimit, own: Truncate): Truncate {
  const { keep, streams, lines } = limit;
  const kept = own.keep === 'ends' ? { keep, maxBytes: own.maxBytes } : { ...own, keep };
  if (streams === 'stdout') return kept;
  return { ...kept, maxLines: own.keep === 'ends' ? lines : Math.min(lines, own.maxLines ?? lines) };
}

/** Applies every cut to the result. */
export function applyLineLimits(result: BashResult, limits: LineLimit[]): BashResult {
  const limited: BashResult = { ...result, truncation: { ...result.truncation } };
  for (const limit of limits) {
    for (const stream of limit.streams === 'both' ? (['stdout', 'stderr'] as const) : (['stdout'] as const)) {
      const cut = cutLines(stream, limited[stream], limited.truncation[stream], limit);
      if (cut === null) continue;
      limited[stream] = cut.text;
      limited.truncation[stream] = cut.truncation;
    }
  }
  return limited;
}

function cutLines(
  stream: 'stdout' | 'stderr',
  text: string,
  before: Truncation | null,
  { keep, lines: wanted }: LineLimit,
): { text: string; truncation: Truncation } | null {
  const shown = withoutNotice(text, before).text;
  const lines = shown.split('\n').map((line) => `${line}\n`);
  // The last piece follows the last newline: it is empty, or an unfinished line.
  const rest = (lines.pop() as string).slice(0, -1);
  if (rest !== '') lines.push(rest);
  if (lines.length <= wanted) return null;

  const kept = (keep === 'head' ? lines.slice(0, wanted) : lines.slice(-wanted)).join('');
  const totalLines = before?.totalLines ?? lines.length;
  const range = { first: before?.firstLine ?? 1, last: before?.lastLine ?? lines.length };
  const firstLine = keep === 'head' ? range.first : range.last - wanted + 1;
  const lastLine = keep === 'head' ? range.first + wanted - 1 : range.last;
  const shownLines = { first: firstLine, last: lastLine, total: totalLines };
  const notice = noticeOfCut({ stream, keep, lines: shownLines }, before);
  return {
    text: `${kept}${kept.endsWith('\n') ? '' : '\n'}${notice}`,
    truncation: {
      keep,
      by: 'lines',
      totalLines,
      totalBytes: before?.totalBytes ?? Buffer.byteLength(shown),
      outputLines: wanted,
      outputBytes: Buffer.byteLength(kept),
      firstLine,
      lastLine,
      // A cut line lies at the end that this cut removed, unless the earlier cut was made at the other end.
      partialLine: before !== null && before.keep !== keep && before.partialLine,
      path: before?.path ?? null,
      artifactId: before?.artifactId ?? null,
      spillError: before?.spillError ?? null,
      notice,
    },
  };
}

/** Returns the notice of a further cut, with the words of the earlier truncation on the whole output. */
export function noticeOfCut(cut: NativeCut, before: Truncation | null): string {
  // A truncation without a notice, or a truncation that keeps both ends, has nothing that a reader of this cut needs.
  const { path, artifactId, spillError } = before && before.notice !== '' && before.keep !== 'ends' ? before : {};
  return innerOf(bash).noticeOfCut(cut, {
    ...(path != null && { path }),
    ...(artifactId != null && { artifactId }),
    ...(spillError != null && { spillError }),
  });
}
