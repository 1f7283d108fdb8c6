import type { Random } from './random.ts';
import { functions, type Words } from './words.ts';

/** Simple commands: builtins, a few programs, assignments, redirects. */
export class Commands {
  readonly #random: Random;
  readonly #words: Words;

  constructor(random: Random, words: Words) {
    this.#random = random;
    this.#words = words;
  }

  print(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    return r.weighted([
      [5, () => `echo ${w.words(0, 3, depth)}`],
      [
        3,
        () =>
          `printf '${r.pick(['%s\\n', '<%s>\\n', '[%s] ', '%s %s\\n', '%q\\n', '%d\\n', '%5s|\\n', '%-5s|\\n', '%b\\n', '%x\\n', '%%', '%c\\n'])}' ${w.words(1, 3, depth)}`,
      ],
      [1, () => `echo -${r.pick(['n', 'e', 'E', 'ne'])} ${w.words(1, 2, depth)}`],
      [1, () => `printf -v ${w.name()} '${r.pick(['%s', '%03d', '%q', '<%s>'])}' ${w.word(depth)}; echo "$x$y$z$v"`],
    ]);
  }

  assignment(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    return r.weighted([
      [6, () => `${w.name()}=${w.simple(depth)}`],
      [2, () => `${w.name()}+=${w.simple(depth)}`],
      [2, () => `n=$((${w.arithmetic(2)}))`],
      [2, () => `list=(${w.words(0, 4, depth)})`],
      [1, () => `list+=(${w.words(1, 2, depth)})`],
      [1, () => `list[${r.pick(['0', '1', '5', 'n', '-1', '${#list[@]}', '1+1'])}]=${w.simple(depth)}`],
      [1, () => `declare -A map=([k]=${w.simple(depth)} [${r.pick(['a', 'b', '"a b"', '$x'])}]=${w.simple(depth)})`],
      [1, () => `x=${w.simple(depth)} y=${w.simple(0)} z=$x`],
      [
        1,
        () =>
          `${w.name()}=${w.simple(0)} ${r.pick(['eval \'echo "$x$y$z$v"\'', 'printenv x y z v', 'f', ':', 'echo "$x"'])}`,
      ],
      [1, () => `IFS=${r.pick([':', ',', "$' \\t\\n'", "''", 'o'])}`],
    ]);
  }

  /** Declarations, options and what else changes the shell. */
  state(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    const name = w.name();
    return r.weighted([
      [2, () => `export ${name}${r.chance(0.6) ? `=${w.simple(depth)}` : ''}`],
      [
        2,
        () =>
          `declare ${r.pick(['-i', '-u', '-l', '-x', '-a', '-r', '-g', '-n', '-t', '+x', '-ix', '-I'])} ${name}${r.chance(0.6) ? `=${r.pick(['5', 'Abc', '2+3', 'n'])}` : ''}`,
      ],
      [1, () => `readonly ${r.pick(['ro', 'ro=1', 'ro+=2'])}`],
      [
        1.5,
        () =>
          `unset ${r.pick(['', '-v ', '-f ', '-n '])}${r.pick([name, 'list[1]', 'list', 'f', 'nothing', 'BASH_ENV', 'IFS', 'SECONDS', 'RANDOM'])}`,
      ],
      [
        3,
        () =>
          `set ${r.pick(['-e', '+e', '-u', '+u', '-f', '+f', '-x', '+x', '-a', '-C', '-b', '-h', '+h', '+B', '-k', '-P', '-E', '-T', '-o pipefail', '+o pipefail', '-o posix', '+o posix', '-o nounset', '-m', '+m', '-v', '-eu', '-euo pipefail'])}`,
      ],
      [
        2,
        () =>
          `shopt -${r.pick(['s', 's', 's', 'u'])} ${r.pick(['nullglob', 'dotglob', 'failglob', 'globstar', 'extglob', 'nocaseglob', 'nocasematch', 'lastpipe', 'inherit_errexit', 'expand_aliases', 'xpg_echo', 'sourcepath', 'execfail', 'autocd', 'cdspell', 'localvar_inherit', 'assoc_expand_once', 'shift_verbose', 'huponexit', 'login_shell', 'compat44'])}`,
      ],
      [1, () => `set -- ${w.words(0, 4, depth)}`],
      [1, () => r.pick(['shift', 'shift 2', 'shift 9', 'set --'])],
      [1, () => `alias ${r.pick(['ll', 'e', 'q'])}=${r.pick(["'echo aliased'", 'echo', "'f '", "'if true; then'"])}`],
      [
        0.5,
        () =>
          r.pick([
            'unalias e',
            'unalias -a',
            'unalias nothing',
            'enable -n echo',
            'enable echo',
            'hash -r',
            'hash -p /bin/true tt; tt',
          ]),
      ],
      [
        1,
        () =>
          r.pick([
            'cd sub',
            'cd ..; cd - >/dev/null',
            'cd nowhere',
            'cd',
            'pushd sub',
            'popd',
            'cd sub && cd -',
            'CDPATH=. cd sub',
            'cd -P .',
            'dirs -c',
          ]),
      ],
      [
        0.7,
        () =>
          r.pick([
            'umask 027',
            'umask 077; umask',
            'umask -S',
            'ulimit -c 0',
            'ulimit -n 100; ulimit -n',
            'ulimit -Sn',
            'umask u=rwx,g=,o=',
          ]),
      ],
      [
        0.7,
        () =>
          r.pick([
            'SECONDS=50',
            'RANDOM=7; echo $RANDOM $RANDOM',
            'OPTIND=1',
            'PS4="> "',
            'LINENO=100',
            'FUNCNEST=9',
            'BASH_ARGV0=other',
            'BASH_ENV=nowhere',
            'HOME=$PWD',
            'PATH=$PATH:.',
            'OLDPWD=$PWD',
            'SHLVL=7',
            'BASH_XTRACEFD=1',
            'BASH_COMMAND=x',
            'GROUPS=1',
            'PWD=x',
            '_=x',
          ]),
      ],
    ]);
  }

  /** Commands that show the state of the shell. Lines with a process id, a time or our own mark are left out. */
  look(): string {
    const r = this.#random;
    const hidden = "grep -vaE '(AGENT_BASH_|BASHPID|EPOCH|PPID|RANDOM|SRANDOM)'";
    return r.weighted([
      // Seldom: such a command starts cold, and is known to differ in a session.
      [0.02, () => `declare -p | ${hidden}`],
      [0.02, () => `set | ${hidden}`],
      [2, () => `env | ${hidden} | sort`],
      [
        2,
        () =>
          `declare -p ${r.pick(['x', 'y', 'list', 'map', 'n', '_', 'PIPESTATUS', 'IFS', 'OPTIND', 'BASH_EXECUTION_STRING', 'SHELLOPTS', 'BASHOPTS', 'SECONDS', 'nothing', 'BASH_ENV', 'SHLVL', 'PWD', 'OLDPWD', 'DIRSTACK', 'FUNCNAME', 'BASH_SOURCE', 'BASH_LINENO', 'PS4', 'HOME', 'BASH_VERSINFO', 'BASH_ARGC', 'BASH_COMMAND', 'LINENO', 'HOSTTYPE', 'TERM'])}`,
      ],
      [
        1,
        () =>
          r.pick([
            'declare -f',
            'declare -F',
            'declare -x | grep -v AGENT_BASH_',
            'export -p | grep -v AGENT_BASH_',
            `readonly -p | ${hidden}`,
            'declare -a | grep -v BASH_ARG',
            'declare -A',
            `declare -i | ${hidden}`,
            `declare -r | ${hidden}`,
            'compgen -A function',
            'compgen -e',
            'compgen -a',
            'alias -p',
          ]),
      ],
      [
        1,
        () =>
          r.pick([
            'shopt',
            'shopt -p',
            'set -o',
            'set +o',
            'shopt -s',
            'shopt -o',
            'umask',
            'ulimit -a',
            'bind -p 2>&1 | head -1',
            'enable | wc -l',
            'complete',
            'dirs -v | sed s,/.*/,/,',
          ]),
      ],
      [
        1,
        () =>
          r.pick([
            'trap',
            'trap -p',
            'trap -p EXIT',
            'trap -p INT TERM',
            'jobs',
            'jobs -p',
            'hash',
            'caller',
            'caller 0',
            'type f',
            'type -t f g echo if ls',
            'command -V echo',
            'command -v f e',
            'history',
            'times | wc -l',
            'suspend',
            'logout',
            'help : | head -1',
            'disown',
            'fc -l',
            'wait -n',
          ]),
      ],
      [1, () => 'echo "$0|$-|$_|$#|$LINENO|$SHLVL|$BASH_SUBSHELL"'],
      [
        0.6,
        () =>
          r.pick([
            'echo "$BASH_EXECUTION_STRING"',
            'printf %s "$BASH_EXECUTION_STRING" | wc -c',

            "tr '\\0' ' ' </proc/$$/cmdline | cut -c1-60",
            'cat /proc/self/comm',
            'grep -E "^Sig(Blk|Ign)" /proc/self/status',
            'readlink /proc/$$/exe',
            "tr '\\0' '\\n' </proc/$$/environ | cut -d= -f1 | sort",
            "tr '\\0' '\\n' </proc/self/environ | cut -d= -f1 | sort",
          ]),
      ],
    ]);
  }

  /** Programs and builtins that read, list or change text. */
  work(depth: number): string {
    const r = this.#random;
    const w = this.#words;
    return r.weighted([
      [2, () => r.pick(['true', 'false', ':', '(exit 3)', '! true', '! false'])],
      [
        2,
        () =>
          `read -r ${r.pick(['x', 'x y', 'x y z', '-a list', '-d : x', '-n 2 x', '-N 3 x', ''])} ${r.pick(['<lines', '<<<"a b c"', '<<< "$x"', '</dev/null', ''])}; echo "$?" "$x" "$y" "\${list[@]}" "\${REPLY-}"`,
      ],
      [
        1,
        () =>
          `mapfile ${r.pick(['-t', '-n 2', '-s 1', '-t -O 2', '-d o'])} list ${r.pick(['<lines', '< <(printf "a\\nb\\n")', '<<<"$x"'])}; echo "\${#list[@]}" "\${list[*]}"`,
      ],
      [
        1,
        () =>
          `while getopts ${r.pick(['ab:', ':ab:', 'a'])} o ${r.pick(['-a -b 1', '-ab1 x', '-z', '-b', '-a -- -b', '"$@"'])}; do echo "$o \${OPTARG-none} $OPTIND"; done`,
      ],
      [
        1.5,
        () =>
          `test ${w.word(depth)} ${r.pick(['=', '!=', '-eq', '-lt', '<', '-nt', '-ef', '-a'])} ${w.word(0)}; echo $?`,
      ],
      [1, () => `[ ${r.pick(['-n', '-z', '-e', '-f', '-d', '-v', '-o', '-t', '-r', '!'])} ${w.word(depth)} ]; echo $?`],
      [1, () => `let ${r.pick(["'n=1+2'", 'n++', "'x = n ** 2'", "'1/0'", "'n ='", 'n=0'])}; echo $? $n`],
      [1, () => `((${w.arithmetic(3)})); echo $? "$n"`],
      [
        2,
        () =>
          `eval ${r.pick(["'echo $x'", '"$x"', "'x=5; echo $LINENO'", "'('", "'if'", "'return 3'", "'echo $_ $0'", "'exit 4'", "'echo \"'", 'echo a \\; echo b', "'false'", "$'echo 1\\nfi\\necho 2'"])}`,
      ],
      [1, () => `. ./${r.pick(['lib', 'lib one two', 'broken', 'nowhere', 'ends'])}`],
      [1.5, () => `${r.pick(functions)} ${w.words(0, 2, depth)}`],
      [
        1,
        () =>
          r.pick([
            'cat lines',
            'cat nowhere',
            'wc -l <lines',
            'sort -r lines',
            'head -1 lines',
            'ls',
            'ls -a sub',
            'nothing_here',
            './lib',
            'command echo a',
            'builtin echo b',
            'exec_nothing',
            'type echo',
            '/bin/echo program',
            './sub',
            '""',
            'bash -c "echo \\$0 \\$-; exit 3"',
            'sh -c "exit 2"',
            'env true',
            'printenv SHLVL',
            'printenv _',
            'bash -c "echo \\$SHLVL"',
            'bash -c "trap"',
            'basename "$PWD"',
          ]),
      ],
    ]);
  }

  redirect(): string {
    return this.#random.pick([
      '>out',
      '>>out',
      '2>&1',
      '2>/dev/null',
      '>&2',
      '<lines',
      '<nowhere',
      '>sub',
      '2>out',
      '&>out',
      '&>>out',
      '>|out',
      '<>out',
      '3>out',
      '>&3',
      '3<lines',
      '<&3',
      '3>&-',
      '>&-',
      '2>&-',
      '<&-',
      '{fd}>out',
      '>"$x"',
      '>"$unset_one"',
      '>/dev/stdout',
      '2>/dev/stderr',
      '<<<"$x"',
      '<<<word',
      '>/dev/full',
      '< <(echo process)',
      '> >(cat)',
      '>nowhere/x',
      '9>&1',
      '>&9',
    ]);
  }

  simple(depth: number): string {
    const r = this.#random;
    const command = r.weighted([
      [5, () => this.print(depth)],
      [3, () => this.assignment(depth)],
      [2.5, () => this.state(depth)],
      [2, () => this.look()],
      [4, () => this.work(depth)],
    ]);
    return r.chance(0.12) ? `${command} ${this.redirect()}` : command;
  }
}
