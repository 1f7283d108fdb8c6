import type { Way } from '../support/index.ts';

/** Something that a script can tell of a way of running: docs/shells.md lists them all. */
export interface Difference {
  ways: Way[];
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
  /** The commands that may do so; one that does not match has to have the shell that waits. */
  in: RegExp;
}

export const coldStarts: readonly ColdStart[] = [
  { what: 'it mentions PIPESTATUS, BASH_ARGV, BASH_ARGC or BASH_COMMAND', in: /PIPESTATUS|BASH_ARG[VC]|BASH_COMMAND/ },
  { what: 'it mentions cmdline or environ, as in /proc/self/environ', in: /cmdline|environ/ },
  {
    what: 'it lists variables: set, declare, typeset, local, readonly or compgen without a name',
    in: /(?<![\w./$=-])(set|(declare|typeset|local|readonly|compgen)([ \t]+[-+][a-zA-Z][\w+-]*)*)(?=[ \t]*([^\w \t./$=+"'{@\\-]|$))/,
  },
];

/** Most are a trace of the file that bash reads before its command. */
export const differences: readonly Difference[] = [
  {
    ways: ['session'],
    what: 'BASH_ARGC and BASH_ARGV outside of functions',
    why: 'bash fills them once, when a file is read: before the command, and so without arguments. Lists of all variables show it.',
    in: /BASH_ARG|BASH_\*|(?<![\w./$=-])(set|declare|typeset|local|readonly|compgen)(?![\w./$=-])/,
  },
  {
    ways: ['session'],
    what: 'PIPESTATUS before the first pipeline',
    why: 'It holds what the shell ran before the command, a single 0; in a shell of its own it is empty.',
    in: /PIPESTATUS/,
  },
  {
    ways: ['session'],
    what: 'BASH_COMMAND in an EXIT trap',
    why: 'It is what was run before the command, since bash puts that back when the command has ended.',
    in: /BASH_COMMAND/,
  },
  {
    ways: ['session'],
    what: '/proc/self/cmdline and environ of the shell itself',
    why: 'The command is written over blanks that the shell was started with, and BASH_ENV tells it to wait.',
    in: /cmdline|environ/,
  },
  {
    ways: ['session'],
    what: 'an unfinished `<(` or `>(` in eval',
    why: 'It damages the memory of bash 5.2, by a fault of bash. A shell that ends then does not notice, one that still saves its state may be ended by SIGABRT.',
    in: /[<>]\(/,
  },
];

/** The differences that a script may show in this way of running. */
export function differencesOf(way: Way, script: string): Difference[] {
  return differences.filter((one) => one.ways.includes(way) && one.in.test(script));
}

/** Whether the command may start cold although a shell waits. */
export function mayStartCold(script: string): boolean {
  return coldStarts.some((one) => one.in.test(script));
}
