// The text of a command for people, in approvals and on the command line. Pure, so that each bundle may have a copy.
import type { CommandUnit } from './analysis.ts';

/**
 * Returns the words of a simple command as it would run, its wrappers first. A word that is not known stays as it is
 * written.
 */
export function unitText({ argv, prefix, assignments }: CommandUnit): string {
  return [
    // The words of `env NAME=value` contain the assignment already.
    ...assignments.filter((assignment) => !prefix.includes(assignment)),
    ...prefix.map(wordText),
    ...argv.map(({ text, known }) => (known ? wordText(text) : text)),
  ].join(' ');
}

/** Returns the way to the command, without the wrappers that `unitText` shows. */
export function unitNesting({ via, prefix }: CommandUnit): string[] {
  return via.slice(0, via.findLastIndex((step) => !prefix.includes(step)) + 1);
}

/** Returns a word as a person would type it. */
function wordText(word: string): string {
  return /^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
