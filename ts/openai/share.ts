import type { BashResult, SessionResult, Truncate } from 'agent-bash';
import { fullOutput, withoutNotice } from '../ai/line-limits.ts';

type Result = BashResult | SessionResult;

/** What each stream may keep at most. Where both ends are kept it is its final share, a half; else nothing is cut that may be kept once both are there. */
export function truncateTo(most: number, own: Truncate): Truncate {
  if (own.keep !== 'ends') return { ...own, maxChars: Math.min(most, own.maxChars ?? most) };
  // Bytes are never fewer than characters.
  const maxBytes = Math.min(own.maxBytes, Math.max(2, Math.floor(most / 2)));
  const share = Math.round((maxBytes * own.headBytes) / (own.headBytes + own.tailBytes));
  const headBytes = Math.min(Math.max(share, 1), maxBytes - 1, own.headBytes);
  return { keep: 'ends', maxBytes, headBytes, tailBytes: Math.min(maxBytes - headBytes, own.tailBytes) };
}

/** Both streams in no more than `most` UTF-16 units together: the shorter one keeps up to half of them, the other one what is left. */
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
  return withoutNotice(result[stream], result.truncation[stream]);
}

function cut(result: Result, stream: 'stdout' | 'stderr', length: number): string {
  const before = result.truncation[stream];
  const text = kept(result, stream);
  const head = before?.keep === 'head';
  // No half of a pair at the cut.
  const part = (head ? text.slice(0, length).replace(/[\ud800-\udbff]$/, '') : text.slice(-length)).replace(
    /^[\udc00-\udfff]/,
    '',
  );
  const end = part.endsWith('\n') || part === '' ? '' : '\n';
  return `${part}${end}[${stream}: Showing ${head ? 'first' : 'last'} ${length} characters${fullOutput(before)}]`;
}
