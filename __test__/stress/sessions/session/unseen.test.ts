import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { inTurn, session, WAYS } from '../../../session/support.ts';
import { folder } from '../../../support/index.ts';

/** All names that a shell can list. */
const LISTS = {
  set: 'set | sed -n "s/^\\([A-Za-z_0-9]*\\)=.*/\\1/p"',
  'declare -p': 'declare -p | sed -n "s/^declare -[^ ]* \\([A-Za-z_0-9]*\\).*/\\1/p"',
  'declare -F': 'declare -F',
  env: 'env | sed -n "s/^\\([A-Za-z_0-9]*\\)=.*/\\1/p"',
  'trap -p': ': trap; trap -p',
  alias: 'alias',
  shopt: 'shopt',
  'set -o': 'set -o; echo "$-"',
  jobs: 'jobs; echo "${!-none}"',
  hash: 'hash 2>&1',
  'compgen -A function': 'compgen -A function',
  'compgen -v': 'compgen -v',
  'compgen -e': 'compgen -e',
  'the folder': 'dirs -v; ls -A; pwd',
  'the process':
    'for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done; grep -E "^Sig(Ign|Blk)" /proc/self/status; ulimit -a',
  'the call':
    'echo "$0|$#|$*|$LINENO|$BASH_SUBSHELL|${BASH_SOURCE[*]}|${FUNCNAME[*]}|$BASH_EXECUTION_STRING|$OPTIND|$SECONDS"; caller',
  'what is bound': 'complete -p; enable -n; bind -p 2>&1 | head -1',
};

const NAMES = /agent_bash_|\/proc\/\d+\/fd/;

describe.each(WAYS)('no name of ours is seen in a session, %s', (_, way) => {
  /** `_` and the pipeline's status change with each command, BASH_ARGC with the reading of a file; SECONDS was set. */
  const lines = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/^(_|PIPESTATUS|SECONDS|BASH_ARG[CV]|BASH_LINENO)?$/.test(line))
      .sort();

  test.each(Object.entries(LISTS))('%s', async (_, list) => {
    const cwd = folder();
    const plain = await bash(list, { cwd, warm: false });
    const one = session({ ...way, cwd });
    for (let n = 0; n < 3; n++) {
      const { stdout, stderr } = await one.run(list);
      expect(lines(stdout)).toEqual(lines(plain.stdout));
      expect(stderr).toBe(plain.stderr);
      expect(stdout).not.toMatch(NAMES);
    }
  });

  test.each(Object.entries(LISTS))('%s, after commands of all kinds', async (_, list) => {
    const cwd = folder();
    const one = session({ ...way, cwd });
    const text = 'set -x; set +x; shopt -s extglob; shopt -u extglob; f() { exit 3; }; f; :';
    await inTurn(
      one,
      'x=1',
      'trap "" USR1; trap - USR1',
      text,
      'kill -9 $$',
      ')',
      'exec true',
      'unset -f f; unset x; exit 4',
    );
    const plain = await bash(list, { cwd, warm: false });
    const { stdout } = await one.run(list);
    expect(lines(stdout)).toEqual(lines(plain.stdout));
  });

  test('in a trace, and in the arguments of DEBUG and ERR traps', async () => {
    const one = session({ ...way, cwd: folder() });
    for (const command of [
      'set -x; echo a',
      'echo b; false',
      'set +x; trap \'echo "D:$BASH_COMMAND" >&2\' DEBUG; echo c',
      'echo d; (exit 3)',
      'trap - DEBUG; trap \'echo "E:$BASH_COMMAND" >&2\' ERR; false; true',
      'false',
      'set -x; echo e',
      'exec 5>trace; BASH_XTRACEFD=5; echo f; cat trace >&2',
      'set -E -T; echo g; false',
    ]) {
      const { stderr, stdout } = await one.run(command);
      expect(stderr + stdout).not.toMatch(/builtin|\/proc\/|agent_bash/i);
    }
  });

  test('a trace and DEBUG are as in one plain shell', async () => {
    const commands = [
      'set -x',
      'x=1; echo $x',
      'f() { echo in f; }; f',
      "trap 'echo debug $LINENO' DEBUG",
      'echo a; echo b',
      'set -T; f',
      'trap - DEBUG; set +x',
      'echo end',
    ];
    const one = session({ ...way, cwd: folder() });
    for (const [n, command] of commands.entries()) {
      const before = commands
        .slice(0, n)
        .map((text) => `eval ${JSON.stringify(text).replaceAll('$', '\\$')}`)
        .join('\n');
      const plain = await bash(`{ ${before}\n:; } >/dev/null 2>&1`, { warm: false });
      expect(plain.status).toBe('exited');
      const { stderr } = await one.run(command);
      for (const line of stderr.split('\n')) expect(line).toMatch(/^$|^\++ (x=1|echo|f|set|trap|debug)/);
    }
    expect((await one.run('echo quiet')).stderr).toBe('');
  });

  test('history, `$BASH_COMMAND` and `caller`', async () => {
    const one = session(way);
    await inTurn(one, 'set -o history', 'x=1', 'y=2');
    expect((await one.run('history')).stdout).not.toMatch(NAMES);
  });
});
