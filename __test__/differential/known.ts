import type { Way } from '../support/index.ts';

/** Something that a script can tell of a way of running: docs/shells.md lists them all. */
export interface Difference {
  way: Way;
  /** What differs, in a few words. */
  what: string;
  /** Why it does, and why it stays so. */
  why: string;
  /** The scripts that may show it. */
  in: RegExp;
}

/** What makes a command start cold although a shell waits for it. */
export interface ColdStart {
  what: string;
  why: string;
  in: RegExp;
}

export const differences: readonly Difference[] = [];

export const coldStarts: readonly ColdStart[] = [];

/** The differences that a script may show in this way of running. */
export function differencesOf(way: Way, script: string): Difference[] {
  return differences.filter((one) => one.way === way && one.in.test(script));
}

/** Whether the command may start cold although a shell waits. */
export function mayStartCold(script: string): boolean {
  return coldStarts.some((one) => one.in.test(script));
}
