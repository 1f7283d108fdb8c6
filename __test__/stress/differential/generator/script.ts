import type { Files } from '../place.ts';
import { Commands } from './commands.ts';
import { Compounds } from './compounds.ts';
import { broken } from './faults.ts';
import { Random } from './random.ts';
import { Words } from './words.ts';

/** The files of the directory that the scripts begin in. */
export const files: Files = {
  'a.txt': 'alpha\n',
  'b.txt': 'beta\n',
  'c.log': 'gamma\n',
  'd e.txt': 'delta\n',
  '.hidden': '',
  'sub/x': 'x\n',
  'sub/deep/y': 'y\n',
  lines: 'one two\nthree  four\n  five:six\nlast',
  lib: 'echo "lib $# $1 $LINENO"; v=sourced; f() { echo "f of lib $*"; }\n',
  broken: 'echo before\nif\necho after\n',
  ends: 'v=ends; return 5; echo never\n',
};

/** The script of that number: the same on every machine. */
export function script(seed: number, index: number): string {
  const random = new Random(seed, index);
  const breaks = random.chance(0.3);
  const words: Words = new Words(random, (depth) => commands.print(depth));
  const commands: Commands = new Commands(random, words);
  const compounds = new Compounds(random, words, commands, breaks);
  const lines = [...beginning(random), ...random.many(1, 6, () => compounds.statement(2)), ...ending(random, commands)];
  const text = joined(lines, random);
  return breaks ? broken(text, random) : text;
}

/** Values and options that what follows can show. */
function beginning(random: Random): string[] {
  return random.weighted([
    [4, () => []],
    [2, () => ['x=abc y="d  e" n=3 list=(p "q r" s) v=foo']],
    [1, () => ['x=abc y= n=3; declare -A map=([k]=val [j]="two words")']],
    [1, () => ['set -euo pipefail', 'x=1 y=2 z=3 v=4 n=5 list=(1 2 3)']],
    [1, () => [`set -${random.pick(['e', 'u', 'x', 'v', 'f', 'eu', 'E', 'T'])}`]],
    [1, () => ['shopt -s expand_aliases extglob', "alias e='echo aliased' ll=ls", 'e one; ll sub']],
    [1, () => ['f() { echo "f: $*"; return 3; }; g() { f "$@" | cat; }; h() { local x=inner; f "$x"; }']],
    [1, () => ['set -- one "two words" three']],
    [1, () => [random.pick(['', ' ', '\t', '# a comment', ':', '\n', ';', '#!/bin/bash'])]],
  ]);
}

/** How a script ends, where it does not just stop. */
function ending(random: Random, commands: Commands): string[] {
  return random.weighted([
    [6, () => []],
    [2, () => [`exit ${random.pick(['', '0', '3', '$n', '256', '-1', 'abc', '1 2'])}`, 'echo never']],
    [
      1,
      () => [
        random.pick([
          'exec true',
          'exec echo replaced',
          'exec nothing_here',
          'exec ./sub',
          'exec sh -c "exit 4"',
          'exec >out; echo lost',
          'exec 3<lines; read -u 3 x; echo $x',
          'exec 2>&1; nothing_here',
          'exec -a name bash -c "echo \\$0"',
          'exec -c env',
          '(exec false); echo $?',
          'exec <lines; cat',
          'exec >&-; echo closed',
        ]),
      ],
    ],
    [
      1,
      () => [
        `kill -${random.pick(['TERM', 'KILL', 'INT', 'HUP', 'USR1', 'QUIT', '0', 'CHLD', 'WINCH', 'NOSUCH', 'PIPE'])} $$`,
        'echo survived $?',
      ],
    ],
    [
      1,
      () => [
        random.pick([
          'return',
          'return 3',
          'break',
          'continue',
          'set -e; false',
          'set -u; echo $unset_one',
          '"',
          'false',
          'nothing_here',
          './lib',
          '(exit 200)',
          'logout',
          '! :',
          'echo ${unset_one?}',
          'readonly q=1; q=2; echo never',
          'f() { exit 8; }; f',
          'x=$(exit 6)',
          ': | exit 7',
          'cat <<X',
          'echo last # comment',
          'echo \\',
        ]),
      ],
    ],
    [0.7, () => ['exit_code=$?', commands.look()]],
    [
      0.7,
      () => [
        random.pick([
          '{ sleep .05; echo late; } &',
          '(sleep .05; echo late) & echo early',
          'sleep .05 & exit 3',
          '{ sleep .03; echo $BASH_SUBSHELL; } & exec true',
        ]),
      ],
    ],
  ]);
}

/** One line each, or several on a line. */
function joined(lines: string[], random: Random): string {
  const dense = random.chance(0.35);
  return lines.reduce((text, line, index) => {
    if (index === 0) return line;
    const together = dense && !/[\n#\\]/.test(lines[index - 1] ?? '') && (lines[index - 1] ?? '').trim() !== '';
    return `${text}${together ? '; ' : '\n'}${line}`;
  }, '');
}
