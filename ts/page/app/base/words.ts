import type { ChangeCounts, EndState } from '../../host/protocol.ts';

/** How a state is to be read: it goes on, needs a person, is all right, has failed, or is not known. */
export type Tone = 'open' | 'needs' | 'good' | 'bad' | 'unknown';

/** A state in a word, for people. */
export interface Stated {
  word: string;
  tone: Tone;
}

interface End {
  state: EndState | 'running';
  exitCode: number | null;
  signal: string | null;
}

/** Says how a run has ended, or that it runs. */
export function statedEnd({ state, exitCode, signal }: End): Stated {
  switch (state) {
    case 'running':
      return { word: 'running', tone: 'open' };
    case 'backgrounded':
      return { word: 'in the background', tone: 'open' };
    case 'exited':
      return exitCode === 0 ? { word: 'done', tone: 'good' } : { word: `failed, exit ${exitCode}`, tone: 'bad' };
    case 'signaled':
      return { word: signal === null ? 'stopped' : `stopped by ${signal}`, tone: 'bad' };
    case 'timed-out':
      return { word: 'timed out', tone: 'bad' };
    case 'aborted':
      return { word: 'aborted', tone: 'bad' };
    case 'refused':
      return { word: 'refused', tone: 'bad' };
    case 'lost':
      return { word: 'lost: its end is not known', tone: 'unknown' };
  }
}

/** Sums up a receipt: `2 created, 1 deleted`; empty if nothing changed. */
export function changedWords({ created, modified, deleted, renamed }: ChangeCounts): string {
  const parts: [number, string][] = [
    [created, 'created'],
    [modified, 'modified'],
    [deleted, 'deleted'],
    [renamed, 'renamed'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count.toLocaleString('en')} ${word}`)
    .join(', ');
}
