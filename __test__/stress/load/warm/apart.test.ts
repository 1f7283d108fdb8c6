import { readFileSync } from 'node:fs';
import { bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { confined } from '../../../support/confined/index.ts';
import { folder, linuxTest } from '../../../support/index.ts';
import { runsWarm, waitingShells, warmed } from '../../../warm/support.ts';

/** A command that shows much of what a shell has. */
const SHOWS = [
  'ls -l /proc/self/fd | sed "s/.* \\([0-9]*\\) -> /\\1 /; s#/proc/[0-9]*/#/proc/N/#; s/:\\[[0-9]*\\]/:[N]/"',
  'for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done',
  'grep -E "^(Sig|Shd|Umask|Cap|NoNewPrivs|Seccomp|Threads)" /proc/self/status',
  'cat /proc/$$/limits /proc/$$/oom_score_adj; cut -d" " -f5-8 /proc/$$/stat | tr -d "0-9"',
  'umask; pwd; ulimit -a; trap -p; alias; jobs; hash; dirs -v; shopt; set -o; echo "$-|$#|$*|$0|$_|$!|$?|$SHLVL|$BASH_SUBSHELL|$LINENO"',
  'complete -p; enable -n; bind -v 2>&1; history; echo "${BASH_SOURCE[*]}|${FUNCNAME[*]}|$BASH_EXECUTION_STRING"',
  'compgen -A function; compgen -A alias; compgen -A export | grep -v ^AGENT_BASH_ID; getopts a o; echo "$o$OPTIND$OPTARG"; echo ${!B*} ${!_*}; read -t 0; echo $?; echo $((RANDOM < 32768))$((SECONDS < 2))',
].join('\n');

const hide = (text: string) =>
  text
    .replaceAll(/Sig(Q|Pnd).*|Max pending signals.*/g, '')
    .replaceAll(/pipe:\[N\]/g, 'pipe')
    .replace(/fd\n/, '');

describe('nothing of a shell that waited is seen', () => {
  linuxTest('Linux: descriptors, signals, limits, options: as in a cold one', async () => {
    const cwd = folder();
    const cold = await bash(SHOWS, { cwd, warm: false });
    const warm = await runsWarm(SHOWS, { cwd });
    expect(hide(warm.stdout)).toBe(hide(cold.stdout));
    expect(warm.stderr).toBe(cold.stderr);
  });

  linuxTest('Linux: group, session and terminal are its own', async () => {
    const { stdout, pid } = await runsWarm('cat /proc/$$/stat; :');
    const number = Number.parseInt(stdout, 10);
    const [, , group, session, terminal] = stdout.slice(stdout.lastIndexOf(')') + 2).split(' ');
    expect([Number(group), Number(session), Number(terminal)]).toEqual([number, number, 0]);
    if (!confined) expect(number).toBe(pid);
  });

  linuxTest('Linux: `exec` and a single program take the place of the shell', async () => {
    for (const command of [
      'readlink /proc/self',
      'exec readlink /proc/self',
      'cd /; exec -a name readlink /proc/self',
    ]) {
      const { stdout, pid } = await runsWarm(command);
      expect(stdout).toBe(`${pid}\n`);
    }
  });

  linuxTest('Linux: the times count from the command on, not from when the shell began to wait', async () => {
    await warmed();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const { stdout, durationMs, usage } = await bash('echo $SECONDS; sleep .1; echo $((EPOCHSECONDS - $(date +%s)))');
    expect(stdout).toMatch(/^0\n(0|-1)\n$/);
    expect(durationMs).toBeGreaterThan(95);
    expect(durationMs).toBeLessThan(1_100);
    expect(usage.userMs + usage.systemMs).toBeLessThan(1_000);
    expect(usage.maxRssBytes).toBeGreaterThan(500_000);
  });

  linuxTest('Linux: the limit counts from the command on', async () => {
    await warmed();
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await bash('echo done', { timeoutMs: 2_000 })).toMatchObject({ status: 'exited', stdout: 'done\n' });
  });
});

describe('nothing goes from one command to the next', () => {
  linuxTest('Linux: variables, functions, folder, umask, options, traps, limits, descriptors', async () => {
    const cwd = folder();
    const leaves = [
      'x=1; export y=2; f() { :; }; alias a=b; cd /; umask 0; set -f; shopt -s nullglob; trap : INT; ulimit -n 30; exec 7</dev/null 8>file',
      'export PATH=/nowhere LC_ALL=C IFS=x; declare -r ro=1; exec 2>&1 >/dev/null',
      'set -k; set -o posix; trap "" TERM HUP; hash -p /bin/false true',
      'kill -9 $$',
      'exit 7',
      'exec true',
      'if',
      'cat <<X',
      'exec >&- 2>&- </dev/null',
    ];
    const cold = await bash(SHOWS, { cwd, warm: false });
    for (const leave of leaves) {
      await runsWarm(leave, { cwd });
      const { stdout } = await runsWarm(SHOWS, { cwd });
      expect(hide(stdout)).toBe(hide(cold.stdout));
      const rest = await runsWarm('echo "$x$y$ro"; type true f a', { cwd });
      expect(rest.stdout).toBe('\ntrue is a shell builtin\n');
      expect(rest.stderr).toBe('bash: line 1: type: f: not found\nbash: line 1: type: a: not found\n');
    }
  });

  linuxTest('Linux: the standard input of one is not that of another', async () => {
    for (let n = 0; n < 20; n++) {
      expect((await runsWarm('head -c 2', { stdin: `${n}abcdef`.repeat(1000) })).stdout).toBe(`${n}abc`.slice(0, 2));
      expect((await runsWarm('cat')).stdout).toBe('');
    }
  });

  linuxTest('Linux: the text of a command is not in the memory of the one after it', async () => {
    const name = `secret-${process.pid}-word`;
    await runsWarm(`: ${name}`);
    await warmed();
    for (const { pid } of waitingShells()) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(name);
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(name);
    }
  });
});

describe('the text reaches bash byte for byte', () => {
  linuxTest.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a newline', '\n'],
    ['a dash', '-x'],
    ['a plus', '+x; echo hi'],
    ['a comment', '# only'],
    ['a comment at the end', 'echo hi # x'],
    ['a heredoc', "cat <<'X'\n$HOME `x` \\\nX"],
    ['an open heredoc', 'cat <<X\nline'],
    ['a trailing backslash', 'echo a\\'],
    ['an open quote', 'echo "a'],
    ['backslashes', "printf '%s\\n' '\\\\' \"\\\\\" \\\\"],
    ['quotes', `echo "'" '"' "\\""`],
    ['!', 'echo "!x" !'],
    ['spaces around', '  echo  hi  '],
    ['CR', 'echo a\r\necho b'],
    ['unicode', 'echo é 🎉 \u00a0'],
    ['its own text', 'echo "$BASH_EXECUTION_STRING"'],
    ['% and $', "printf '%%s\\n' $$ >/dev/null; echo '%s %d $0'"],
    ['tabs and form feeds', 'echo "a\tb\fc"'],
  ])('Linux: %s', async (_, command) => {
    const cold = await bash(command, { warm: false, sanitize: false });
    const warm = await runsWarm(command, { sanitize: false });
    expect([warm.stdout, warm.stderr, warm.exitCode]).toEqual([cold.stdout, cold.stderr, cold.exitCode]);
  });

  linuxTest('Linux: of any length around what fits', async () => {
    for (const length of [4_095, 4_096, 4_097, 16_383, 16_384, 16_385, 65_535, 65_536, 131_071, 131_072, 300_000]) {
      const command = `echo ${'x'.repeat(length - 5)}`;
      expect(command.length).toBe(length);
      await warmed();
      const { stdout } = await bash(`${command}`, { truncate: { keep: 'tail' } });
      expect(stdout.length).toBe(length - 4);
      await warmed();
      const quoted = `: '${"'\\''".repeat(Math.floor((length - 20) / 4))}'; echo ok`;
      expect((await bash(quoted)).stdout).toBe('ok\n');
    }
  });
});
