import type { Random } from './random.ts';

/** Names that scripts use again and again, so that what one line does is seen by another. */
export const names = ['x', 'y', 'z', 'n', 'v', 'list', 'map'] as const;
export const functions = ['f', 'g', 'h'] as const;

/** The words of a script. Depth bounds the nesting. */
export class Words {
  readonly #random: Random;
  /** A simple command for a substitution, from the generator of commands. */
  readonly #inner: (depth: number) => string;

  constructor(random: Random, inner: (depth: number) => string) {
    this.#random = random;
    this.#inner = inner;
  }

  name(): string {
    return this.#random.pick(['x', 'y', 'z', 'v']);
  }

  literal(): string {
    return this.#random.pick([
      'a',
      'b',
      'foo',
      'bar.txt',
      '1',
      '42',
      '-n',
      '-',
      '--',
      'é',
      '漢',
      'a=b',
      "''",
      '""',
      "'x  y'",
      '"x  y"',
      "'a\"b'",
      '"a\'b"',
      'a\\ b',
      "$'a\\tb'",
      "$'\\x41\\n'",
      '\\*',
      "'*'",
      '~',
      'a:b',
      'a,b',
      '%s',
      '#a',
      'a#b',
      '!',
      '0',
      '-1',
      '0x1f',
      '010',
      '"\\$x"',
      '"\\\\"',
      "'\\'",
      'then',
      'fi',
      '{',
      '}',
      '[',
      ']',
      '"a\nb"',
      '$',
      '"$"',
      'a\\\nb',
    ]);
  }

  pattern(): string {
    return this.#random.pick([
      '*',
      '?',
      'a*',
      '*.txt',
      '*.log',
      '[ab]*',
      '[!a]*',
      '[a-c]',
      '[[:alpha:]]*',
      '*o*',
      'foo',
      'sub/*',
      '*/',
      '.*',
      'no*where',
      '"*"',
      '??',
      '*[0-9]',
    ]);
  }

  brace(): string {
    return this.#random.pick([
      '{a,b,c}',
      '{1..4}',
      '{a..e..2}',
      'x{,y}z',
      '{05..08}',
      '{a,{b,c}}d',
      '{3..1}',
      '{a}',
      '{a,b',
      '"{a,b}"',
      '{1..3}{x,y}',
    ]);
  }

  arithmetic(depth: number): string {
    const r = this.#random;
    const leaf = () =>
      r.pick([
        '0',
        '1',
        '2',
        '7',
        '10',
        '0x10',
        '010',
        '2#101',
        'x',
        'n',
        '$n',
        '${#x}',
        'list[1]',
        'y',
        '-3',
        '~1',
        '!0',
        'n++',
        '--n',
        'x=5',
        '1/0',
        '08',
        'a b',
      ]);
    if (depth <= 0 || r.chance(0.4)) return leaf();
    const left = this.arithmetic(depth - 1);
    const right = this.arithmetic(depth - 1);
    const operator = r.pick([
      '+',
      '-',
      '*',
      '/',
      '%',
      '**',
      '<<',
      '>>',
      '&',
      '|',
      '^',
      '&&',
      '||',
      '<',
      '>',
      '<=',
      '==',
      '!=',
      ',',
      '+=',
    ]);
    if (operator === '**' || operator === '<<') return `${left} ${operator} 2`;
    return r.weighted([
      [6, () => `${left} ${operator} ${right}`],
      [2, () => `(${left} ${operator} ${right})`],
      [1, () => `${left} ? ${right} : 3`],
    ]);
  }

  /** `${…}` with every kind of content. */
  expansion(depth: number): string {
    const r = this.#random;
    const n = r.pick([
      'x',
      'y',
      'z',
      'v',
      'n',
      'list',
      'list[1]',
      'list[@]',
      'list[*]',
      'map[k]',
      'map[@]',
      '1',
      '2',
      '@',
      '*',
      'HOME',
      'unset_one',
      '#',
    ]);
    const word = () => this.simple(depth - 1);
    return r.weighted([
      [6, () => `\${${n}}`],
      [3, () => `\${${n}${r.pick([':-', '-', ':+', '+'])}${word()}}`],
      [1, () => `\${${n}${r.pick([':=', '='])}${word()}}`],
      [1, () => `\${${n}${r.pick([':?', '?'])}${r.pick(['missing', '', '"it is"'])}}`],
      [2, () => `\${#${n}}`],
      [
        3,
        () => `\${${n}${r.pick(['#', '##', '%', '%%'])}${r.pick(['a', '*', '?', '*o', 'f*', '[a-m]', '.*', '"*"'])}}`,
      ],
      [
        3,
        () =>
          `\${${n}${r.pick(['/', '//', '/#', '/%'])}${r.pick(['a', 'o', '?', '*', ' ', '[a-f]'])}/${r.pick(['X', '', '&', '-', '$n'])}}`,
      ],
      [2, () => `\${${n}${r.pick(['^', '^^', ',', ',,', '^^[ao]', '~', '~~'])}}`],
      [2, () => `\${${n}:${r.pick(['0', '1', ' -1', '1:2', '0:1', 'n', '${#x}-1', '1:-1', '9'])}}`],
      [2, () => `\${${n}@${r.pick(['Q', 'U', 'u', 'L', 'E', 'A', 'a', 'P', 'K', 'k', 'Z'])}}`],
      [
        1,
        () =>
          r.pick([
            '${!x}',
            '${!x*}',
            '${!list@}',
            '${!list[@]}',
            '${!map[@]}',
            '${!unset_one}',
            '${!1}',
            '${#list[@]}',
            '${#*}',
            '${list[-1]}',
            '${list[-9]}',
          ]),
      ],
      [0.4, () => r.pick(['${}', '${x!}', '${x y}', '${-x}', '${x[}', '${x^^^^}', '${1x}'])],
    ]);
  }

  /** Variables that the shell itself sets. */
  special(): string {
    return this.#random.pick([
      '$?',
      '$#',
      '$-',
      '$0',
      '$_',
      '$*',
      '"$@"',
      '"$*"',
      '$1',
      '"${2-}"',
      '${!:+job}',
      '$LINENO',
      '$BASH_SUBSHELL',
      '$SHLVL',
      '"${PIPESTATUS[*]}"',
      '"${FUNCNAME[@]-}"',
      '"${BASH_SOURCE[@]-}"',
      '"${BASH_LINENO[*]-}"',
      '"$BASH_COMMAND"',
      '"$BASHOPTS"',
      '"$SHELLOPTS"',
      '"${BASH_REMATCH[@]-}"',
      '"$OPTIND"',
      '"${OPTARG-}"',
      '"${REPLY-}"',
      '"${DIRSTACK[@]}"',
      '"${PWD##*/}"',
      '"${OLDPWD##*/}"',
      '"${BASH_ARGV[@]-}"',
      '"$IFS"',
      '"${GROUPS[0]}"',
      '"$UID"',
      '"${BASH_ENV-none}"',
      '"${BASH_ARGV0-}"',
      '"$BASH"',
      '"${BASH_EXECUTION_STRING:0:9}"',
      '"${#BASH_EXECUTION_STRING}"',
      '"${BASH_ALIASES[*]-}"',
      '"${BASH_CMDS[*]-}"',
      '"${EPOCHSECONDS:+now}"',
      '"${RANDOM:+random}"',
      '"${SECONDS}"',
      '"${PS4-}"',
      '"${COLUMNS-none}"',
      '"${HISTCMD-none}"',
      '"${MAPFILE[*]-}"',
      '"${FUNCNEST-}"',
      '"${_-none}"',
      '"${PPID:+parent}"',
      '"$((BASHPID == $$))"',
      '"${BASH_XTRACEFD-none}"',
      '"${!BASH_*}"',
    ]);
  }

  /** A word without blanks outside of quotes, for places that take only one word. */
  simple(depth: number): string {
    return this.#random.weighted([
      [5, () => this.literal().replaceAll('\n', ' ')],
      [4, () => `"${this.#random.pick(['$x', '$y', '${z}', '$v', '$n', 'a $x', '$x$y', '-$z-'])}"`],
      [depth > 0 ? 2 : 0, () => `"${this.expansion(depth - 1)}"`],
      [depth > 0 ? 1 : 0, () => `"$(${this.#inner(depth - 1)})"`],
    ]);
  }

  word(depth: number): string {
    const r = this.#random;
    return r.weighted([
      [8, () => this.literal()],
      [
        6,
        () =>
          r.pick([
            '$x',
            '"$x"',
            '$y',
            '"$y"',
            '"${z}"',
            '$v',
            '"$v"',
            '$n',
            '"$n"',
            '"${list[@]}"',
            '${list[@]}',
            '"${list[*]}"',
            '"${map[k]}"',
          ]),
      ],
      [4, () => this.special()],
      [3, () => (r.chance(0.6) ? `"${this.expansion(depth)}"` : this.expansion(depth))],
      [2, () => this.pattern()],
      [1.5, () => this.brace()],
      [1.5, () => `$((${this.arithmetic(2)}))`],
      [depth > 0 ? 2 : 0, () => (r.chance(0.7) ? `"$(${this.#inner(depth - 1)})"` : `$(${this.#inner(depth - 1)})`)],
      [depth > 0 ? 0.4 : 0, () => `\`${this.#inner(0).replaceAll(/[`\\]/g, '')}\``],
      [1, () => `${this.literal().replaceAll('\n', '')}${r.pick(['$x', '"$y"', '"$n"', "'q'"])}`],
    ]);
  }

  words(low: number, high: number, depth: number): string {
    return this.#random.many(low, high, () => this.word(depth)).join(' ');
  }
}
