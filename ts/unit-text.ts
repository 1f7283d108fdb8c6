// What people read of a command, in the approval and on the command line: a part of both, and of no state.
import type { CommandUnit } from './analysis';

/** The words of a simple command as it would run, its wrappers in front; one that is not known stands as it is written. */
export function unitText({ argv, prefix, assignments }: CommandUnit): string {
  return [
    // `env NAME=value` sets what stands in its words already.
    ...assignments.filter((assignment) => !prefix.includes(assignment)),
    ...prefix.map(wordText),
    ...argv.map(({ text, known }) => (known ? wordText(text) : text)),
  ].join(' ');
}

/** How the command is reached, without the wrappers whose words stand in front of it. */
export function unitNesting({ via, prefix }: CommandUnit): string[] {
  return via.slice(0, via.findLastIndex((step) => !prefix.includes(step)) + 1);
}

/** A word as one would type it. */
function wordText(word: string): string {
  return /^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
