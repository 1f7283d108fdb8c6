import { type BashResult, bash, type Truncate, type Truncation } from 'agent-bash';
import type { NativeCut } from '../../../native.cjs';
import { innerOf } from '../../core/inner.ts';
import { withoutNotice } from '../../core/notice.ts';
import type { BashToolInput } from '../types.ts';
import type { TrailingLimit } from './trailing-limit.ts';

/** One cut by lines. A trailing pipe limits stdout, as the pipe did. The inputs `head` and `tail` limit each stream. */
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
 * Returns what the run must keep so that the first cut finds its lines: the tool's own limits, at the wanted end. If
 * the cut applies to both streams, the run makes it.
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

/** The notice of a further cut, with what the truncation before says about the whole output. */
export function noticeOfCut(cut: NativeCut, before: Truncation | null): string {
  // A truncation without a notice, or one of both ends, says nothing that a reader of this cut needs.
  const { path, artifactId, spillError } = before && before.notice !== '' && before.keep !== 'ends' ? before : {};
  return innerOf(bash).noticeOfCut(cut, {
    ...(path != null && { path }),
    ...(artifactId != null && { artifactId }),
    ...(spillError != null && { spillError }),
  });
}
