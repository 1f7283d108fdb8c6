import type { BashResult, Truncate, Truncation } from 'agent-bash';
import type { TrailingLimit } from './trailing-limit.ts';
import type { BashToolInput } from './types.ts';

/** One cut by lines. A trailing pipe limits stdout, as it did; the inputs `head` and `tail` limit each stream. */
export interface LineLimit {
  keep: 'head' | 'tail';
  lines: number;
  streams: 'both' | 'stdout';
}

/** The cuts of a call, in the order they are made: the command's own first; an input wins over a trailing pipe of its kind. */
export function lineLimits(trailing: TrailingLimit | null, input: Pick<BashToolInput, 'head' | 'tail'>): LineLimit[] {
  const order = trailing?.keep === 'tail' ? (['tail', 'head'] as const) : (['head', 'tail'] as const);
  return order.flatMap((keep): LineLimit[] => {
    const asked = input[keep];
    if (asked != null) return [{ keep, lines: asked, streams: 'both' }];
    return trailing?.keep === keep ? [{ keep, lines: trailing.lines, streams: 'stdout' }] : [];
  });
}

/**
 * What the run has to keep so that the first cut finds its lines: the tool's own limits, at the end that is wanted.
 * Where the cut holds for both streams, the run makes it itself.
 */
export function truncateFor(limit: LineLimit, own: Truncate): Truncate {
  const { keep, streams, lines } = limit;
  const kept = own.keep === 'ends' ? { keep, maxBytes: own.maxBytes } : { ...own, keep };
  if (streams === 'stdout') return kept;
  return { ...kept, maxLines: own.keep === 'ends' ? lines : Math.min(lines, own.maxLines ?? lines) };
}

/** The result with every cut made. */
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
  const shown = withoutNotice(text, before);
  const lines = shown.split('\n').map((line) => `${line}\n`);
  // The last piece is what follows the last newline: nothing, or a line that has no end.
  const rest = (lines.pop() as string).slice(0, -1);
  if (rest !== '') lines.push(rest);
  if (lines.length <= wanted) return null;

  const kept = (keep === 'head' ? lines.slice(0, wanted) : lines.slice(-wanted)).join('');
  const totalLines = before?.totalLines ?? lines.length;
  const range = { first: before?.firstLine ?? 1, last: before?.lastLine ?? lines.length };
  const firstLine = keep === 'head' ? range.first : range.last - wanted + 1;
  const lastLine = keep === 'head' ? range.first + wanted - 1 : range.last;
  const what =
    keep === 'head' && firstLine === 1
      ? `first ${wanted} of ${totalLines} lines`
      : keep === 'tail' && lastLine === totalLines
        ? `last ${wanted} of ${totalLines} lines`
        : `lines ${firstLine} to ${lastLine} of ${totalLines}`;
  const mark = keep === 'head' ? '[truncated]\n' : '';
  const notice = `${mark}[${stream}: Showing ${what}${fullOutput(before)}]`;
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
      // A cut line stands at the end that this cut took away, unless the cut before was made at the other one.
      partialLine: before !== null && before.keep !== keep && before.partialLine,
      path: before?.path ?? null,
      artifactId: before?.artifactId ?? null,
      spillError: before?.spillError ?? null,
      notice,
    },
  };
}

/** The text that was kept, without what says how it was cut. */
export function withoutNotice(text: string, truncation: Truncation | null): string {
  if (truncation === null || truncation.notice === '') return text;
  const at = text.lastIndexOf(truncation.notice);
  return at < 0 ? text : text.slice(0, at);
}

/** What the notice before said about the whole output, which still holds. */
export function fullOutput(before: Truncation | null): string {
  return /(?: lines| characters| of \d+)(\. .*)\]\s*$/s.exec(before?.notice ?? '')?.[1] ?? '';
}
