import type { Commands } from './commands.ts';
import type { Random } from './random.ts';
import { functions, type Words } from './words.ts';

/** Compound commands: lists, loops, functions, subshells, pipelines, here-documents, jobs. */
export class Compounds {
  readonly #random: Random;
  readonly #words: Words;
  readonly #commands: Commands;
  /** Whether it starts nothing in the background: for scripts that are then broken at random places. */
  readonly #calm: boolean;

  constructor(random: Random, words: Words, commands: Commands, calm: boolean) {
    this.#random = random;
    this.#words = words;
    this.#commands = commands;
    this.#calm = calm;
  }

  statement(depth: number): string {
    if (depth <= 0) return this.#commands.simple(0);
    const { low } = this.#costs();
    return this.#random.weighted([
      [10, () => this.#commands.simple(depth)],
      [2, () => this.list(depth - 1)],
      [1.5, () => this.pipeline(depth - 1)],
      [1.5, () => this.condition(depth - 1)],
      [1.5, () => this.loop(depth - 1)],
      [1, () => this.choice(depth - 1)],
      [1.2, () => this.function(depth - 1)],
      [1, () => this.group(depth - 1)],
      [1, () => this.document(depth)],
      [1.2, () => this.trap(depth - 1)],
      [low, () => this.job(depth - 1)],
      [0.8, () => this.bracket(depth)],
      [0.6, () => this.process(depth - 1)],
    ]);
  }

  #costs() {
    return { low: this.#calm ? 0 : 1.2 };
  }

  body(depth: number): string {
    return this.#random
      .many(1, 3, () => this.statement(depth))
      .map((one) => (one.includes('\n') ? `${one}\n` : `${one}${this.#random.chance(0.7) ? '; ' : '\n'}`))
      .join('');
  }

  list(depth: number): string {
    const r = this.#random;
    const first = this.statement(depth);
    return `${first}${first.includes('<<') ? '\n' : ` ${r.pick(['&&', '||', ';'])} `}${this.statement(depth)}`;
  }

  pipeline(depth: number): string {
    const r = this.#random;
    const first = this.#commands.simple(depth);
    // Each reads all that comes, since whether the one before it is hit by SIGPIPE is a matter of luck.
    const rest = r.many(1, 2, () =>
      r.pick([
        'cat',
        'cat -A',
        'tr a-z A-Z',
        'while read -r l; do echo "<$l>"; x=$l; done',
        'wc -l',
        '{ cat; echo "$?"; }',
        '(cat; exit 4)',
        'sort',
        '{ read -r x; cat; exit 5; }',
        'sed s/a/b/',
        '{ cat >/dev/null; false; }',
        'mapfile -t list',
        '! cat',
      ]),
    );
    const bar = r.pick(['|', '|', '|', '|&']);
    // A word that makes a command start cold is to be rare.
    const told = r.chance(0.1) ? 'echo "${PIPESTATUS[@]}" $?' : 'echo $?';
    return `${r.chance(0.1) ? '! ' : ''}${[first, ...rest].join(` ${bar} `)}; ${told}`;
  }

  condition(depth: number): string {
    const r = this.#random;
    const test = r.weighted([
      [3, () => this.#commands.simple(0)],
      [2, () => this.bracketOnly(0)],
      [2, () => `((${this.#words.arithmetic(1)}))`],
    ]);
    const other = r.chance(0.4)
      ? `else\n${this.body(depth)}`
      : r.chance(0.2)
        ? `elif true\nthen ${this.body(depth)}`
        : '';
    return `if ${test}\nthen ${this.body(depth)}${other}fi`;
  }

  loop(depth: number): string {
    const r = this.#random;
    const inside = `${this.body(depth)}${r.chance(0.25) ? `${r.pick(['break', 'continue', 'break 2', 'continue 9', '[ "$i" = 2 ] && continue'])}\n` : ''}`;
    // Loops count with a name that nothing else touches, so that they end.
    return r.weighted([
      [4, () => `for i in ${this.#words.words(0, 3, depth)}; do ${inside}done`],
      [2, () => `for i in 1 2 3; do ${inside}done`],
      [1, () => `for ((i=0; i<3; i++)); do ${inside}done`],
      [1, () => `c=0; while ((c++ < 3)); do ${inside}done`],
      [1, () => `c=0; until ((++c > 2)); do ${inside}done`],
      [
        1,
        () =>
          `select i in ${this.#words.words(1, 3, 0)}; do echo "picked $i $REPLY"; ${this.body(0)}break; done <<<"${r.pick(['1', '2', '9', '', 'x'])}"`,
      ],
      [0.7, () => `for i do ${inside}done`],
    ]);
  }

  choice(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    const branches = r.many(
      1,
      3,
      () =>
        `${r.pick(['', '('])}${r.pick([w.pattern(), w.literal().replaceAll('\n', ''), 'a|b', '"$x"', '@(a|b)', '[[:digit:]]*'])}) ${this.body(depth)}${r.pick([';;', ';;', ';;', ';&', ';;&'])}`,
    );
    return `case ${w.simple(1)} in\n${branches.join('\n')}\n${r.chance(0.5) ? '*) echo other;;\n' : ''}esac`;
  }

  function(depth: number): string {
    const r = this.#random;
    const name = r.pick(functions);
    const lines = r.many(1, 3, () =>
      r.weighted([
        [
          3,
          () =>
            `local ${r.pick(['', '-i ', '-a ', '-r ', '-n ', '- '])}${this.#words.name()}${r.chance(0.6) ? `=${this.#words.simple(0)}` : ''}`,
        ],
        // No function is called in one, so that none calls itself.
        [5, () => this.#commands.print(depth)],
        [2, () => this.#commands.assignment(0).replaceAll(/\bf\b/g, ':')],
        [2, () => this.#commands.look()],
        [
          1,
          () =>
            r.pick([
              'return',
              'return 7',
              'return $n',
              'echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}" $#',
              'shift',
              'set -- inner',
              'exit 6',
              'declare -g v=global',
              'trap "echo returned" RETURN',
              '(return 4); echo $?',
              'caller 0',
            ]),
        ],
      ]),
    );
    const body = r.pick([`{ ${lines.join('\n')}\n}`, `(${lines.join('\n')}\n)`]);
    const head = r.pick([`${name}()`, `function ${name}`, `${name} ()`]);
    return `${head} ${body}\n${name} ${this.#words.words(0, 2, 0)}; echo "$?"`;
  }

  group(depth: number): string {
    const r = this.#random;
    return r.weighted([
      [3, () => `(${this.body(depth)})`],
      [3, () => `{ ${this.body(depth)}}${r.chance(0.3) ? ` ${this.#commands.redirect()}` : ''}`],
      [1, () => `(${this.body(depth)}exit ${this.#random.int(0, 9)}); echo $?`],
      [1, () => `x=$(${this.body(depth)}); echo "$? $x"`],
      [0.5, () => `time -p : 2>/dev/null; ! { ${this.body(0)}}`],
    ]);
  }

  document(depth: number): string {
    const r = this.#random;
    const quoted = r.chance(0.4);
    const mark = r.pick(['EOF', 'END', 'E']);
    const inside = r.many(0, 3, () =>
      r.pick([
        'plain text',
        '$x and ${y:-none}',
        '$(echo sub)',
        '`echo tick`',
        '\\$x \\\\ \\',
        'it\'s "quoted"',
        '\tindented',
        '$((n + 1))',
        '',
        '${list[@]}',
        '${x?gone}',
        `$(${this.#commands.print(depth - 1)})`,
      ]),
    );
    const head = `${r.pick(['cat', 'read -r x y', 'while read -r l; do echo "[$l]"; done', 'f', 'tr a-z A-Z', 'mapfile list', ':'])} <<${r.pick(['', '-'])}${quoted ? `'${mark}'` : mark}`;
    return `${head}\n${inside.map((line) => `${line}\n`).join('')}${mark}\necho "$? $x"`;
  }

  trap(depth: number): string {
    const r = this.#random;
    const action = r.pick([
      "'echo trapped $?'",
      '\'echo "$x $LINENO"\'',
      "'exit 9'",
      "''",
      '-',
      "'false'",
      "'echo a; exit'",
      "'x=trapped'",
      "'trap - EXIT'",
      "'('",
      "'return 3'",
      "'set +e; echo on'",
    ]);
    return r.weighted([
      [4, () => `trap ${action} EXIT`],
      [0.5, () => `trap 'echo "$BASH_COMMAND"' ${r.pick(['ERR', 'DEBUG', 'USR1', 'RETURN', 'EXIT'])}`],
      [
        2,
        () =>
          `trap ${action} ${r.pick(['ERR', 'DEBUG', 'RETURN', 'USR1', 'TERM INT', 'CHLD', 'NOSUCH', '0', 'HUP EXIT'])}`,
      ],
      [2, () => `trap ${action} USR1; kill -USR1 $$; echo after`],
      [1, () => `(trap ${action} EXIT; ${this.body(depth)})`],
      [1, () => `trap "echo $x" EXIT ERR`],
      [1, () => 'trap -- "" INT; trap -p'],
      [0.5, () => 'trap -l | head -1; trap 2>&1 x'],
    ]);
  }

  job(depth: number): string {
    const r = this.#random;
    return r.weighted([
      [3, () => `{ ${this.body(depth)}} & wait; echo $?`],
      [2, () => `(exit ${r.int(0, 9)}) & wait $!; echo $?`],
      [1, () => `sleep .2 & p=$!; jobs -r | wc -l | tr -d ' '; wait $p; echo $?; wait %1; echo $?`],
      [1, () => `sleep .3 & kill ${r.pick(['-TERM', '-KILL', '-9', '-s HUP', ''])} $!; wait $! 2>/dev/null; echo $?`],
      [1, () => 'sleep .3 & kill %1; wait %1; echo $?; jobs'],
      [1, () => `(sleep .02; exit 3) & wait ${r.pick(['-n', '', '$!', '-p w -n', '%%', '%+', '-f $!'])}; echo $?`],
      [
        1,
        () =>
          'coproc { read -r l; echo "co $l"; }; echo in >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"; wait; echo $?',
      ],
      [0.5, () => 'coproc named (cat); echo "${#named[@]}"; eval "exec ${named[1]}>&-"; wait'],
      [0.5, () => `sleep 5 & disown; jobs; kill $!; ${this.#commands.simple(0)}`],
      [0.5, () => 'trap "echo woken" USR1; { sleep .3; kill -USR1 $$; } & wait; echo $?; wait'],
    ]);
  }

  bracketOnly(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    const one = () =>
      r.weighted([
        [3, () => `${w.simple(depth)} ${r.pick(['==', '=', '!='])} ${r.pick([w.pattern(), w.simple(0), '+(a|b)*'])}`],
        [
          2,
          () =>
            `${w.simple(0)} =~ ${r.pick(['^a', '(.)(.)', '[0-9]+', '"."', '$x', '^(a|b)$', '(', '^[[:alpha:]]+$'])}`,
        ],
        [
          2,
          () =>
            `${r.pick(['-n', '-z', '-e', '-v', '-d', '-o', '-R', '-t'])} ${r.pick(['x', '"$x"', 'lines', 'sub', 'list[1]', 'errexit', '1'])}`,
        ],
        [
          1,
          () =>
            `${r.pick(['n', '$n', '3', 'x'])} ${r.pick(['-eq', '-lt', '-ge'])} ${r.pick(['1', 'n+1', '08', '"$y"'])}`,
        ],
        [1, () => `${w.simple(0)} ${r.pick(['<', '>'])} ${w.simple(0)}`],
      ]);
    return `[[ ${r.pick([one(), `! ${one()}`, `${one()} && ${one()}`, `${one()} || ${one()}`, `( ${one()} ) && ${one()}`])} ]]`;
  }

  bracket(depth: number): string {
    return `${this.bracketOnly(depth)}; echo "$? \${BASH_REMATCH[*]-}"`;
  }

  process(depth: number): string {
    const r = this.#random;
    if (this.#calm) return `cat <(${this.#commands.print(depth)})`;
    return r.pick([
      `cat <(${this.body(depth)})`,
      'diff <(echo a) <(echo b); echo $?',
      'while read -r l; do x+=$l; done < <(cat lines); echo "$x"',
      '. <(echo "echo sourced \\$LINENO \\${BASH_SOURCE[0]:+set}")',
      'echo in > >(cat); wait $!; echo $?',
      'read -r x < <(echo y; exit 3); wait $!; echo "$? $x"',
    ]);
  }
}
