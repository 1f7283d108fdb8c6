import type { BashResult } from 'agent-bash';
import type { RenderInput } from './types.ts';
import { duration } from './words.ts';

/** The state of a run in one word: a class of the HTML. */
export type State = BashResult['status'] | 'running' | 'not-run';

/** The style of a status. */
export type Mood = 'good' | 'bad' | 'open';

export interface Status {
  state: State;
  mood: Mood;
  /** One line for people. */
  text: string;
}

/** Returns the state of a run, with its own words for each way to end. */
export function statusOf({ result, error, elapsedMs, timeoutMs }: RenderInput): Status {
  if (result) return ended(result, timeoutMs);
  if (error) {
    const code = typeof error.code === 'string' && error.code !== '' ? ` (${error.code})` : '';
    return { state: 'not-run', mood: 'bad', text: `not run: ${error.message}${code}` };
  }
  const time = elapsedMs === undefined ? [] : [duration(elapsedMs)];
  const limit = timeoutMs === undefined ? [] : [`limit ${duration(timeoutMs)}`];
  return { state: 'running', mood: 'open', text: ['running', ...time, ...limit].join(' · ') };
}

function ended(result: BashResult, givenLimit: number | undefined): Status {
  const { status, exitCode, durationMs } = result;
  const limit = result.timeoutMs ?? givenLimit;
  const good = status === 'exited' && exitCode === 0;
  const nothing = status === 'aborted' && result.pid === 0;
  const parts = [inWords(result, limit)];
  if (status !== 'backgrounded' && !nothing) {
    if (status !== 'exited' && exitCode !== null) parts.push(`exit code ${exitCode}`);
    parts.push(duration(durationMs));
    // A timed-out run's own words already name the limit.
    if (limit !== undefined && limit !== null && status !== 'timed-out') parts.push(`limit ${duration(limit)}`);
  }
  const mood = good ? 'good' : status === 'backgrounded' ? 'open' : 'bad';
  return { state: status, mood, text: parts.join(' · ') };
}

function inWords(
  { status, exitCode, signal, pid, background, truncation }: BashResult,
  limit: number | null | undefined,
): string {
  const by = signal === null ? '' : ` by ${signal}`;
  switch (status) {
    case 'exited':
      return `exit code ${exitCode}`;
    case 'signaled':
      return `killed${by}`;
    case 'timed-out':
      return `timed out${limit === null || limit === undefined ? '' : ` after ${duration(limit)}`}${signal === null ? '' : `, ended${by}`}`;
    case 'aborted':
      return pid === 0 ? 'aborted before it was started' : `aborted${signal === null ? '' : `, ended${by}`}`;
    case 'backgrounded': {
      // A task started in the background has no output here that could have been cut.
      const moved = truncation.stdout !== null || truncation.stderr !== null;
      const after = moved && limit ? `, moved there after ${duration(limit)}` : '';
      return `in the background: pid ${background?.pid ?? pid}${after}`;
    }
    case 'lost':
      return 'lost: it is not known how the command ended';
  }
}
