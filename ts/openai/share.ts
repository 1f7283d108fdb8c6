import type { BashResult, SessionResult, Truncate } from 'agent-bash';
import { withoutNotice } from '../core/notice.ts';
import { noticeOfCut } from '../tool/call/line-limits.ts';

type Result = BashResult | SessionResult;

/**
 * Returns the limit of each stream. If both ends are kept, it is the stream's final share, a half. Otherwise nothing is
 * cut that could still be kept once both streams are complete.
 */
export function truncateTo(most: number, own: Truncate): Truncate {
  if (own.keep !== 'ends') return { ...own, maxChars: Math.min(most, own.maxChars ?? most) };
  // Bytes are never fewer than characters.
  const maxBytes = Math.min(own.maxBytes, Math.max(2, Math.floor(most / 2)));
  const share = Math.round((maxBytes * own.headBytes) / (own.headBytes + own.tailBytes));
  const headBytes = Math.min(Math.max(share, 1), maxBytes - 1, own.headBytes);
  return { keep: 'ends', maxBytes, headBytes, tailBytes: Math.min(maxBytes - headBytes, own.tailBytes) };
}

/**
 * Cuts both streams to `most` UTF-16 units in total: the shorter stream keeps up to half, the other stream the rest.
 */
export function sharedBy(result: Result, most: number): Result {
  const { stdout, stderr, truncation } = result;
  if (truncation.stdout?.keep === 'ends' || truncation.stderr?.keep === 'ends') return result;
  const lengths = { stdout: kept(result, 'stdout').length, stderr: kept(result, 'stderr').length };
  if (lengths.stdout + lengths.stderr <= most) return result;
  const half = Math.floor(most / 2);
  const room = (other: number) => Math.max(most - other, half);
  return {
    ...result,
    stdout: lengths.stdout > room(lengths.stderr) ? cut(result, 'stdout', room(lengths.stderr)) : stdout,
    stderr: lengths.stderr > room(lengths.stdout) ? cut(result, 'stderr', room(lengths.stdout)) : stderr,
  };
}

function kept(result: Result, stream: 'stdout' | 'stderr'): string {
  return withoutNotice(result[stream], result.truncation[stream]).text;
}

function cut(result: Result, stream: 'stdout' | 'stderr', length: number): string {
  const before = result.truncation[stream];
  const text = kept(result, stream);
  const head = before?.keep === 'head';
  // The cut must not split a surrogate pair.
  const part = (head ? text.slice(0, length).replace(/[\ud800-\udbff]$/, '') : text.slice(-length)).replace(
    /^[\udc00-\udfff]/,
    '',
  );
  const end = part.endsWith('\n') || part === '' ? '' : '\n';
  return `${part}${end}${noticeOfCut({ stream, keep: head ? 'head' : 'tail', chars: length }, before)}`;
}
