import type { Way } from '../../support/index.ts';

/** A difference between the ways of running that a script can detect. docs/shells.md lists them all. */
export interface Difference {
  ways: Way[];
  /** The difference in a few words. */
  what: string;
  /** The reason for it, and why it stays. */
  why: string;
  /** The scripts that may show it. */
  in: RegExp;
  /** The first differing line, expected or found, and its field. */
  shown: RegExp;
  /** A short one that does; left out where it takes luck. */
  example?: string;
}

/** The reason why a command starts cold although a warm shell is ready. */
export interface ColdStart {
  what: string;
  /** The commands that may start cold. Any other must get the warm shell. */
  in: RegExp;
  examples: string[];
}

export const coldStarts: readonly ColdStart[] = [
  {
    what: 'it mentions PIPESTATUS, BASH_ARGV, BASH_ARGC or BASH_COMMAND',
    in: /PIPESTATUS|BASH_ARG[VC]|BASH_COMMAND/,
    examples: ['echo "${PIPESTATUS[@]}"', 'echo $BASH_ARGC', 'trap \'echo "$BASH_COMMAND"\' EXIT'],
  },
  {
    what: 'it mentions cmdline or environ, as in /proc/self/environ',
    in: /cmdline|environ/,
    examples: ['wc -c </proc/self/cmdline', 'wc -c </proc/$$/environ'],
  },
  {
    what: 'it lists variables: set, declare, typeset, local, readonly or compgen without a name',
    in: /(?<![\w./$=-])(set|(declare|typeset|local|readonly|compgen)([ \t]+[-+][a-zA-Z][\w+-]*)*)(?=[ \t]*([^\w \t./$=+"'{@\\-]|$))/,
    examples: ['set', 'declare -p | sort', 'x=$(typeset)', 'readonly -p', 'compgen -v', 'f() { local; }; f'],
  },
];

/** Most are a trace of the file that bash reads before its command. */
export const differences: readonly Difference[] = [
  {
    ways: ['session'],
    what: 'PIPESTATUS before the first pipeline',
    why: 'It holds what the shell ran before the command, a single 0; in a shell of its own it is empty.',
    in: /PIPESTATUS/,
    shown: /^(stdout|stderr)/,
    example: 'echo "${PIPESTATUS[@]}"',
  },
  {
    ways: ['session'],
    what: 'BASH_COMMAND in an EXIT trap',
    why: 'It is what was run before the command, since bash puts that back when the command has ended.',
    in: /BASH_COMMAND/,
    shown: /builtin/,
    example: 'trap \'echo "$BASH_COMMAND"\' EXIT; true',
  },
  {
    ways: ['session'],
    what: '/proc/self/cmdline and environ of the shell itself',
    why: 'The command is written over blanks that the shell was started with, and BASH_ENV tells it to wait.',
    in: /cmdline|environ/,
    shown: /BASH_ENV| {4}"|builtin|^exitCode/,
    example: 'tr "\\0" "\\n" </proc/$$/environ | grep -c BASH_ENV',
  },
  {
    ways: ['session'],
    what: 'the shell is still there while its last command runs',
    why: 'A plain bash lets its last command take its place. In a session it stays, to save its state: seen in `/proc/$$` and in the process id of that command.',
    in: /\/proc\/|\$\$|\$BASHPID|\$PPID/,
    shown: /bin\/bash/,
    example: 'readlink /proc/$$/exe',
  },
  {
    ways: ['session'],
    what: 'an unfinished `<(` or `>(` in eval',
    why: 'It damages the memory of bash 5.2, by a fault of bash. A shell that ends then does not notice, one that still saves its state may be ended by SIGABRT.',
    in: /[<>]\(/,
    shown: /^exitCode.*"134"/,
  },
  {
    ways: ['session'],
    what: 'BASH_ARGC and BASH_ARGV outside of functions',
    why: 'bash fills them once, when a file is read: before the command, and so without arguments.',
    in: /BASH_ARG/,
    shown: /^(stdout|stderr)/,
    example: 'set -- a b; echo "${BASH_ARGV[@]}"',
  },
  {
    ways: ['session'],
    what: 'lists of all variables: set, declare -p',
    why: 'They show that BASH_ARGC and PIPESTATUS are set already, and SECONDS with a value.',
    in: /BASH_\*|(?<![\w./$=-])(set|declare|typeset|local|readonly|compgen)(?![\w./$=-])/,
    shown: /BASH_ARG|PIPESTATUS|SECONDS/,
    example: 'declare -p | grep BASH_ARGC',
  },
];

/** Returns the known difference that a script showed in this way of running. `told` comes from `firstDifference`. */
export function differenceOf(way: Way, script: string, told: string): Difference | undefined {
  return differences.find((one) => one.ways.includes(way) && one.in.test(script) && one.shown.test(told));
}

/** Returns whether the command may start cold although a shell is warm. */
export function mayStartCold(script: string): boolean {
  return coldStarts.some((one) => one.in.test(script));
}
