import type { ChangeCounts, LedgerEntry } from 'agent-bash';
import type { PageEnded } from '../../wire.ts';
import { duration } from './format.ts';
import type { Mark } from './icon.ts';

/** The kind of a state: it lasts, needs a person, is over, or is a failure. */
export type Tone = 'live' | 'ask' | 'done' | 'bad';

/** A state as people read it. */
export interface Stated {
  word: string;
  tone: Tone;
  mark: Mark;
}

type End = Pick<LedgerEntry, 'state' | 'exitCode' | 'signal'> & Partial<Pick<PageEnded, 'cause' | 'limitMs'>>;

/** Words for causes that say more than the state of an end. */
const CAUSES: Record<string, string> = {
  cpu: 'stopped, too much CPU time',
  memory: 'stopped, too much memory',
  processes: 'stopped, too many processes',
  space: 'stopped, too much on the disk',
  page: 'stopped by you',
};

/** Returns in words how a run ended, or that it still runs. */
export function statedEnd({ state, exitCode, signal, cause = null, limitMs = null }: End): Stated {
  const because = CAUSES[cause ?? ''];
  if (because) return { word: because, tone: cause === 'page' ? 'done' : 'bad', mark: 'stop' };
  const after = limitMs === null ? '' : ` after ${duration(limitMs)}`;
  switch (state) {
    case 'running':
      return { word: 'running', tone: 'live', mark: 'run' };
    case 'backgrounded':
      return { word: 'in the background', tone: 'live', mark: 'task' };
    case 'exited':
      if (exitCode === 0) return { word: 'done', tone: 'done', mark: 'ok' };
      return { word: `exit code ${exitCode}`, tone: 'bad', mark: 'fail' };
    case 'signaled':
      return { word: signal === null ? 'killed' : `killed, ${signal}`, tone: 'bad', mark: 'stop' };
    case 'timed-out':
      return { word: `${cause === 'silence' ? 'silent, stopped' : 'timed out'}${after}`, tone: 'bad', mark: 'time' };
    case 'aborted':
      return { word: 'stopped', tone: 'done', mark: 'stop' };
    case 'refused':
      return { word: 'refused', tone: 'bad', mark: 'refuse' };
    case 'lost':
      return { word: 'lost', tone: 'bad', mark: 'lost' };
  }
}

/** Returns the text with a capital first letter. */
export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the counts of a receipt in words, such as `4 created, 1 deleted`; `''` if nothing changed. */
export function changedWords({ created, modified, deleted, renamed }: ChangeCounts): string {
  const parts: [number, string][] = [
    [created, 'created'],
    [modified, 'modified'],
    [deleted, 'deleted'],
    [renamed, 'renamed'],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number.toLocaleString('en')} ${word}`)
    .join(', ');
}
