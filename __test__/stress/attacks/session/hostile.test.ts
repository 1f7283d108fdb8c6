import { describe, expect, test } from 'vitest';
import { inTurn, session, WAYS } from '../../../session/support.ts';
import { folder } from '../../../support/index.ts';

/** State that a command may leave to hinder any book-keeping. */
const HOSTILE = [
  ...[
    'builtin',
    'declare',
    'trap',
    'set',
    'shopt',
    'alias',
    'umask',
    'printf',
    'echo',
    'exit',
    'return',
    'eval',
    'unset',
    'export',
    'cd',
    'pwd',
    'test',
    '[',
    ':',
    '.',
    'source',
    'true',
    'local',
    'read',
    'kill',
    'type',
    'exec',
    'shift',
    'ulimit',
    'pushd',
    'dirs',
  ].map((name) => `function ${name} { command echo "caught ${name}" >&2; return 7; }`),
  'function builtin { exit 9; }; function exit { :; }; function printf { :; }; function declare { :; }; function trap { :; }',
  'shopt -s expand_aliases; alias builtin=false declare=false trap=false set=false printf=false .=false {=false "if=false" then=false done=false case=false while=false do=false',
  'IFS=x',
  'IFS=',
  "IFS=$'0123456789/'",
  "IFS=' \\/pfd'",
  'POSIXLY_CORRECT=1',
  'set -o posix',
  'set -f',
  'set -k',
  'set -C',
  'set -e',
  'set -u',
  'set -eu -o pipefail',
  'set -a',
  'set -E -T',
  'set -B; set +B',
  'set +h',
  'set -P',
  'set -b',
  'set -m',
  'shopt -s failglob',
  'shopt -s nullglob',
  'shopt -s compat31',
  'BASH_COMPAT=3.2',
  'shopt -s xpg_echo',
  'shopt -s extdebug',
  'shopt -s lastpipe',
  'shopt -s localvar_inherit localvar_unset',
  'shopt -s nocasematch nocaseglob',
  'shopt -s inherit_errexit',
  'shopt -s execfail',
  'shopt -u sourcepath',
  'shopt -s sourcepath; PATH=.',
  'shopt -s varredir_close',
  'shopt -s assoc_expand_once',
  'shopt -s globskipdots; GLOBIGNORE="*"',
  'shopt -s cdable_vars; cdpath=/; CDPATH=/usr:/etc',
  'LC_ALL=C',
  'LC_ALL=nosuch',
  'LANG=; LC_CTYPE=C',
  'PATH=',
  'unset PATH',
  'PATH=/nowhere',
  'HOME=/nowhere; unset PWD OLDPWD',
  'PWD=/lies',
  'readonly PWD OLDPWD',
  'readonly IFS',
  'readonly PATH HOME',
  'readonly x f',
  'declare -r _x=1',
  'unset IFS',
  'OLDPWD=/lies',
  'TMOUT=1',
  'FUNCNEST=1',
  'EXECIGNORE="*"',
  'BASH_XTRACEFD=1',
  'PS4="\\$(exit 3)"; set -x',
  'PS4="$(printf %1000s)"',
  'BASHOPTS= 2>/dev/null',
  'BASH_ENV=/nowhere/file',
  'BASH_ENV=/etc/passwd; export BASH_ENV',
  'ENV=/etc/passwd',
  'SHELLOPTS= 2>/dev/null',
  'BASH_LOADABLES_PATH=/',
  'exec >&-',
  'exec 2>&-',
  'exec <&-',
  'exec 3>file',
  'exec 3>&1 4>&2 1>&- 2>&-',
  'exec 255</dev/null 254>&1',
  'for fd in {3..260}; do eval "exec $fd</dev/null"; done',
  'ulimit -n 4',
  'ulimit -f 0',
  'ulimit -S -f 0',
  'ulimit -c 0',
  'umask 777',
  'chmod 000 .',
  'enable -n builtin',
  'enable -n printf',
  'enable -n alias shopt',
  'enable -n pwd umask',
  'enable -n test',
  'enable -n .',
  'enable -n eval',
  'enable -n return',
  'hash -p /bin/false true',
  'declare -n r=r 2>/dev/null',
  'declare -n r=nosuch',
  'declare -n r="a[0]"',
  'declare -A BASH_ALIASES 2>/dev/null; BASH_ALIASES[x]=y',
  'BASH_CMDS[zz]=/bin/true',
  'trap "" TERM INT HUP PIPE',
  'trap "" PIPE XFSZ',
  'DIRSTACK=(/lies)',
  'pushd -n /nowhere >/dev/null',
  'export -f nosuch 2>/dev/null; f2() { :; }; declare -ft f2; export -f f2',
  'declare -i SHLVL=99',
  'declare -u u; declare -x SECONDS=77',
  'RANDOM=5; LINENO=99',
  'unset BASH_ENV BASH_VERSION BASHPID PPID UID 2>/dev/null',
  'unset RANDOM SECONDS LINENO EPOCHSECONDS',
  'COPROC=(1 2)',
  'MAPFILE=(a b); REPLY=r',
  'GROUPS=(0) ; FUNCNAME=x',
  'set -- a b c',
  'history -s x',
  'bind "set x y" 2>/dev/null',
  'complete -W "a b" cmd',
  'set -r',
];

describe.each(WAYS)('hostile state in a session, %s', (_, way) => {
  const keeps = async (hostile: string) => {
    const one = session({ ...way, cwd: folder(), safety: 'off' });
    await one.run('kept="k  k"; arr=(1 2); keep() { command echo "keep $kept"; }');
    // The command exits by itself, and its exit code is true.
    const left = await one.run(`changed=1; ${hostile}`);
    expect(left.status).toBe('exited');
    // The earlier state is still there, whatever part of the new one could be kept.
    const shows = await one.run(
      'command echo "${kept-lost}|${arr[1]-lost}|${#kept}"; command keep 2>/dev/null || keep 2>/dev/null',
      { safety: 'off' },
    );
    expect(shows.status).toBe('exited');
    expect(shows.stdout + shows.stderr).toContain('k  k|2|4');
    expect(shows.stdout + shows.stderr).not.toMatch(/\/proc\/\d+\/fd|agent_bash/);
    await one.reset();
    expect(await one.run('echo "${kept-none}"')).toMatchObject({ stdout: 'none\n', stderr: '', exitCode: 0 });
  };

  test.each([...HOSTILE, 'enable -n declare'])('%s', keeps);

  test.each(['', '\n: trap'])('many such functions at once, kept and called%j', async (end) => {
    const one = session(way);
    const names = [
      'declare',
      'trap',
      'set',
      'printf',
      'shopt',
      'alias',
      'unset',
      'eval',
      'test',
      ':',
      '.',
      'umask',
      'cd',
      'pwd',
      'exit',
      'return',
      'local',
    ];
    const defined = names.filter((name) => end !== '' || name !== 'trap');
    await one.run(defined.map((name) => `function ${name} { command echo "mine ${name}"; }`).join('\n') + end);
    for (let n = 0; n < 3; n++) {
      const { stdout, stderr } = await one.run(defined.map((name) => `${name} x`).join('\n'));
      expect(stdout).toBe(defined.map((name) => `mine ${name}\n`).join(''));
      expect(stderr).toBe('');
    }
  });

  test('values that look like code or like a dump', async () => {
    const one = session(way);
    const values = [
      'declare -- x="1"',
      "'; echo hacked; '",
      '$(echo hacked)',
      '`echo hacked`',
      '"',
      "'",
      '\\',
      '\n',
      'end\n',
      '\ndeclare -x PATH="/nowhere"\n',
      ')',
      '([0]="a")',
      '-n',
      '--',
      '%s',
      '!',
      '~',
      '*',
      '{a,b}',
      '\u0001',
      '\u007f',
      '\u0080',
      'a=b',
      '\r\n',
      ' ',
      '$',
      '${x}',
      '#',
      'f () \n{ \n    :\n}\n',
    ];
    for (const [n, value] of values.entries()) {
      await one.run(`v=$V; a+=("$V"); declare -A m; m["$V"]=$V; [ -n "$V" ] && export E="$V"`, { env: { V: value } });
      expect((await one.run('printf "%s|%s|%s" "$v" "${a[-1]}" "$E"', { sanitize: false })).stdout).toBe(
        `${value}|${value}|${value}`,
      );
      expect((await one.run('echo "${#a[@]} ${#m[@]}"')).stdout).toBe(`${n + 1} ${n + 1}\n`);
    }
    expect((await one.run('printf "%s\\0" "${a[@]}"', { sanitize: false })).stdout).toBe(
      values.map((value) => `${value}\0`).join(''),
    );
  });

  test('functions that look like several', async () => {
    const one = session(way);
    await one.run(
      "f() { cat <<'X'\n}\ng () \n{ \n    echo hacked\n}\ndeclare -f g\nX\n}\nh() { echo '}\ni () \n{ \n    :\n}'; }\nz() { echo z; }",
    );
    expect((await one.run('f')).stdout).toBe('}\ng () \n{ \n    echo hacked\n}\ndeclare -f g\n');
    expect((await one.run('h; z; type g i 2>&1')).stdout).toBe(
      '}\ni () \n{ \n    :\n}\nz\nbash: line 1: type: g: not found\nbash: line 1: type: i: not found\n',
    );
    const before = await one.run('declare -f');
    expect((await inTurn(one, 'true', 'declare -f')).stdout).toBe(before.stdout);
  });
});
