import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { inTurn, session, WAYS } from '../../../session/support.ts';
import { alive, kill, linuxTest, mark, settles, sleepers, until } from '../../../support/index.ts';

describe.each(WAYS)('a session, %s', (_, way) => {
  const begun = async () => {
    const one = session(way);
    await one.run('x=before; cd /usr; f() { echo "f $x"; }; alias a=b');
    return one;
  };
  /** The state that `begun` has left is there. */
  const holds = async (one: Awaited<ReturnType<typeof begun>>) => {
    expect(await one.run('f; pwd; alias')).toMatchObject({
      exitCode: 0,
      stdout: "f before\n/usr\nalias a='b'\n",
      stderr: '',
      notes: [],
      cwd: '/usr',
    });
  };

  describe('takes the state of a command that ended by itself, whatever its code', () => {
    test.each([
      ['exit 3', 3],
      ['false', 1],
      ['(exit 200)', 200],
      ['nosuchprogram', 127],
      ['/etc/group', 126],
      ['set -e; false; echo not', 1],
      ['set -u; echo $nosuch', 127],
      ['f() { return 9; }; f', 9],
      ['exit 256', 0],
      ['exit -1', 255],
      ['exit 1000', 232],
      ['exit foo', 2],
      ['eval "exit 4"', 4],
      ['echo "${nosuch:?}"', 127],
      ['readonly r=1; r=2', 1],
      ['set -eo pipefail; false | true', 1],
      ['set -e; (exit 5)', 5],
      ['f() { exit 6; }; f', 6],
      ['echo "exit 7" >/tmp/agent-bash-exit.$$; . /tmp/agent-bash-exit.$$', 7],
      ['break 2>/dev/null; false', 1],
      ['trap "exit 8" ERR; false', 8],
      ['trap "exit 9" EXIT; true', 9],
      ['trap "false" EXIT; exit 10', 10],
      ['command exit 11', 11],
      ['builtin exit 12', 12],
      ['{ exit 13; }', 13],
      ['exit 14 | exit 15', 15],
      ['return 16', 2],
      ['kill -0 $$; exit 17', 17],
    ] as const)('%s', async (command, exitCode) => {
      const one = await begun();
      const result = await one.run(`x=after; cd /etc; ${command}`);
      expect(result).toMatchObject({ status: 'exited', exitCode, signal: null, notes: [] });
      // If the text sets its own EXIT trap, a shell that ends early reports nothing.
      if (!command.includes('trap')) {
        expect(result.cwd).toBe('/etc');
        expect((await one.run('set +eu +o pipefail; echo $x; pwd')).stdout).toBe('after\n/etc\n');
      }
    });
  });

  test('every exit code, 0 to 255', async () => {
    const one = session(way);
    for (let code = 0; code < 256; code++) {
      const command =
        code % 3 === 0 ? `exit ${code}` : code % 3 === 1 ? `(exit ${code})` : `f() { return ${code}; }; f`;
      expect(await one.run(command)).toMatchObject({ status: 'exited', exitCode: code, stdout: '', stderr: '' });
    }
  });

  test.each([
    'if',
    'echo "open',
    ')',
    'x=after; cd /etc\n)',
    "cat <<'X' ; fi",
    'case x in',
    '{',
    'for',
    'function',
    'a=(',
  ])('a syntax error: %j', async (command) => {
    const one = await begun();
    const { stdout, stderr, exitCode, status } = await one.run(command, { safety: 'off' });
    const plain = await bash(command, { safety: 'off', warm: false });
    expect({ stdout, stderr, exitCode, status }).toEqual({
      stdout: plain.stdout,
      stderr: plain.stderr,
      exitCode: plain.exitCode,
      status: 'exited',
    });
    expect(stderr).toMatch(/^bash: (-c: )?line \d+: /);
    expect((await one.run('type -t f; alias a')).stdout).toBe("function\nalias a='b'\n");
  });

  test.each([
    'exec true',
    'exec false',
    'exec sh -c "exit 3"',
    'true',
    '/bin/true',
    'exec /nowhere/program',
    'exec -a name true',
  ])('`%s`', async (command) => {
    const one = await begun();
    expect((await one.run(command)).status).toBe('exited');
    await holds(one);
  });

  test.each([
    'kill -9 $$',
    'kill $$',
    'kill -INT $$',
    'kill -HUP $$',
    'kill -SEGV $$',
    'kill -9 $BASHPID',
    'kill -ABRT $$',
    'kill -USR1 $$',
    'kill -PIPE $$',
    'p=$$; (kill -9 $p)',
    'python3 -c "import os; os.kill(os.getppid(), 9)"; :',
  ])('`%s`: the state is that before it', async (command) => {
    const one = await begun();
    const result = await settles(one.run(`x=after; cd /etc; ${command}; sleep 1; echo not`));
    expect(result).toMatchObject({ status: 'signaled', stdout: '', cwd: '/usr' });
    expect(result.exitCode).toBeGreaterThan(128);
    await holds(one);
  });

  test('a limit: the state is that before it', async () => {
    const one = await begun();
    const seconds = mark();
    const result = await one.run(`x=after; cd /etc; echo BEFORE; sleep ${seconds}; :`, {
      timeoutMs: 2_000,
      graceMs: 200,
    });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, stdout: 'BEFORE\n', cwd: '/usr' });
    await until(() => sleepers(seconds).length === 0);
    await holds(one);
  });

  test('a limit, of a command with a TERM trap that exits by itself', async () => {
    const one = await begun();
    const result = await one.run("x=after; cd /etc; trap 'echo cleaned; exit 0' TERM; while :; do sleep .05; done", {
      timeoutMs: 2_000,
    });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, stdout: 'cleaned\n' });
    await holds(one);
  });

  test('a limit: timed out, whatever the shell says at its end', async () => {
    const one = await begun();
    const loops = ['while :; do :; done', 'read x </dev/zero', 'while sleep .01; do :; done'];
    const waits = [
      'cat /dev/zero | sleep 30',
      'sleep 30 & wait',
      'f() { sleep 30; }; f; :',
      '(sleep 30)',
      'y=$(sleep 30)',
      'cat <(sleep 30)',
    ];
    for (let n = 0; n < 3; n++)
      for (const command of [...loops, ...waits])
        expect(await one.run(`y=after; ${command}`, { timeoutMs: 100, graceMs: 200 }), command).toMatchObject({
          status: 'timed-out',
          exitCode: 124,
        });
    await holds(one);
  });

  test('an abort while it runs', async () => {
    const one = await begun();
    const [controller, seconds] = [new AbortController(), mark()];
    const running = one.run(`x=after; cd /etc; sleep ${seconds}; :`, { signal: controller.signal });
    await until(() => sleepers(seconds).length === 1);
    controller.abort();
    expect(await settles(running)).toMatchObject({ status: 'aborted', exitCode: 130, cwd: '/usr' });
    await until(() => sleepers(seconds).length === 0);
    await holds(one);
  });

  test('aborts just as a program starts: SIGTERM ends the shell', async () => {
    const one = await begun();
    for (let n = 0; n < 100; n++) {
      const controller = new AbortController();
      const options = { signal: controller.signal, onOutput: () => controller.abort() };
      expect(await one.run('echo on; sleep 60', options)).toMatchObject({ status: 'aborted', signal: 'SIGTERM' });
    }
    await holds(one);
  });

  test('an abort while it waits for its turn: it never starts, those behind it do', async () => {
    const one = await begun();
    const controller = new AbortController();
    const first = one.run('sleep .4; echo first');
    const second = one.run('x=after; echo second', { signal: controller.signal });
    const third = one.run('echo third');
    controller.abort();
    expect(await settles(second)).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, stdout: '' });
    expect((await first).stdout).toBe('first\n');
    expect((await third).stdout).toBe('third\n');
    await holds(one);
  });

  test('a signal that was aborted before', async () => {
    const one = await begun();
    expect(await one.run('x=after', { signal: AbortSignal.abort() })).toMatchObject({
      status: 'aborted',
      exitCode: 130,
      pid: 0,
    });
    await holds(one);
  });

  test('an error before anything starts leaves it usable, and gives its turn on', async () => {
    const one = await begun();
    const bad = [
      one.run('true', { shell: '/nowhere/bash' }),
      one.run('true', { cwd: '/nowhere/at/all' }),
      one.run('a\0b'),
      one.run('true', { timeoutMs: -1 }),
      one.run('true', { env: { A: 1 as never } }),
    ];
    const codes = (await Promise.allSettled(bad)).map((end) => end.status === 'rejected' && end.reason.code);
    expect(codes).toEqual([
      'ERR_BASH_SHELL_NOT_FOUND',
      'ERR_BASH_CWD_NOT_FOUND',
      'ERR_BASH_INVALID_ARG',
      'ERR_BASH_INVALID_ARG',
      'ERR_BASH_INVALID_ARG',
    ]);
    await holds(one);
  });

  linuxTest('Linux: `kill -9 $PPID`, `kill $PPID` and the parent of the parent', async () => {
    const one = await begun();
    for (const command of [
      'kill -9 $PPID; sleep 5',
      'kill $PPID; sleep .1',
      'read -r _ _ _ up _ </proc/$PPID/stat; kill -9 $up; sleep .2',
    ]) {
      const result = await settles(one.run(command, { timeoutMs: 5_000 }));
      expect(typeof result.exitCode).toBe('number');
      expect((await one.run('f')).stdout).toBe('f before\n');
    }
    expect(alive(process.pid)).toBe(true);
  });

  test('commands that close or replace their streams', async () => {
    const one = await begun();
    for (const command of [
      'exec >&-',
      'exec 2>&-',
      'exec >&- 2>&- <&-',
      'exec >/dev/null 2>&1',
      'exec 1<&-; exit 3',
      'exec 3>&1 >/dev/null',
      'for fd in {3..250}; do eval "exec $fd>&-"; done 2>/dev/null',
    ]) {
      const n = Math.floor(Math.random() * 1e9);
      expect((await settles(one.run(`y=${n}; ${command}`))).status).toBe('exited');
      expect((await one.run('echo $y')).stdout).toBe(`${n}\n`);
    }
    await holds(one);
  });

  test('survivors live on, and hold up no command after theirs', async () => {
    const one = await begun();
    const seconds = mark();
    const result = await one.run(`sleep ${seconds} & y=1`);
    expect(result.survivors.map(({ command }) => command)).toEqual([`sleep ${seconds}`]);
    expect((await settles(one.run('echo $y'), 5_000)).stdout).toBe('1\n');
    expect(sleepers(seconds).length).toBe(1);
    for (const pid of sleepers(seconds)) kill(pid, 'SIGKILL');
    await holds(one);
  });

  test('what a trap does at the end cannot hold it up', async () => {
    const one = await begun();
    const result = await settles(inTurn(one, "trap 'sleep .2; echo late' EXIT; y=1", 'echo "$y"'));
    expect(result.stdout).toBe('1\n');
    await holds(one);
  });
});
