import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  alive,
  folder,
  HANG,
  hasProgram,
  host,
  hostEnv,
  kill,
  mark,
  promptly,
  seq,
  settles,
  sleepers,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';

describe('`sleep 60 & echo hi`: returns with the shell, sleep lives on as a survivor', () => {
  test('that holds both pipes', async () => {
    const seconds = mark();
    const result = await promptly(async () => {
      for (const pid of sleepers(seconds)) kill(pid, 'SIGKILL');
      return bash(`sleep ${seconds} & echo hi`);
    });
    expect(result.stdout).toBe('hi\n');
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, signal: null });
    expect(result.survivors).toHaveLength(1);
    const [survivor] = result.survivors;
    expect(survivor?.pid).toBe(sleepers(seconds)[0]);
    expect(survivor?.command).toContain('sleep');
    expect(survivor?.taskId).toBeNull();
    expect(alive(survivor?.pid ?? 0)).toBe(true);
  });

  test('`sleep 9 </dev/null >/dev/null &`, that holds only stderr', async () => {
    const seconds = mark();
    const [result, elapsed] = await timed(() => bash(`sleep ${seconds} </dev/null >/dev/null & echo hi`));
    expect(result.stdout).toBe('hi\n');
    expect(elapsed).toBeLessThan(HANG);
    expect(result.survivors.map(({ pid }) => pid)).toEqual(sleepers(seconds));
    expect(sleepers(seconds)).toHaveLength(1);
  });

  test('that holds only stdout', async () => {
    const seconds = mark();
    const [result, elapsed] = await timed(() => bash(`sleep ${seconds} 2>/dev/null & echo hi >&2; exit 5`));
    expect(result).toMatchObject({ stdout: '', stderr: 'hi\n', exitCode: 5 });
    expect(elapsed).toBeLessThan(HANG);
    expect(result.survivors.map(({ pid }) => pid)).toEqual(sleepers(seconds));
  });

  test('that holds neither, and has left the session', async () => {
    const seconds = mark();
    const [result, elapsed] = await timed(() =>
      bash(
        `setsid sleep ${seconds} >/dev/null 2>&1 & disown; until pgrep -fx 'sleep ${seconds}'; do :; done >/dev/null; echo hi`,
      ),
    );
    expect(result.stdout).toBe('hi\n');
    expect(elapsed).toBeLessThan(HANG);
    expect(result.survivors.map(({ pid }) => pid)).toEqual(sleepers(seconds));
    expect(sleepers(seconds)).toHaveLength(1);
  });

  test('several of them are all listed', async () => {
    const seconds = [mark(), mark(), mark()];
    const result = await bash(seconds.map((one) => `sleep ${one} & `).join(''));
    const living = seconds.flatMap(sleepers);
    expect(living).toHaveLength(3);
    expect(result.survivors.map(({ pid }) => pid).sort()).toEqual(living.sort());
  });
});

describe('the drain after the exit', () => {
  const ticks = (count: number, text: string) =>
    `mkfifo p; exec 9<>p; (for i in {1..${count}}; do read -rt .05 -u 9; ${text}; done) & echo head`;

  /**
   * Runs a command until its own writer was never quiet for the 250 ms that end the drain. On a busy machine a writer
   * can be. `note` in the command records the time, after each of its writes. Bash before version 5 records none.
   */
  async function unhindered(command: string) {
    for (let runs = 0; runs < 20; runs++) {
      const cwd = folder();
      const result = await bash(`note() { echo "\${EPOCHREALTIME/,/.}" >> times; }; ${command}; note`, { cwd });
      // The writer outlives the command if the drain ended before it.
      await until(() => !existsSync(join(cwd, 'writing')));
      const times = readFileSync(join(cwd, 'times'), 'utf8')
        .trim()
        .split('\n')
        .map(Number)
        .sort((a, b) => a - b);
      if (times.every((time, at) => time - (times[at - 1] ?? time) < 0.2)) return result;
    }
    throw new Error('in 20 runs the machine kept the writer from its processor for 200 ms');
  }

  test('`(sleep .15; echo tail) & echo head`: both lines', async () => {
    const result = await unhindered(': > writing; (sleep .15; echo tail; note; rm writing) & echo head');
    expect(result.stdout).toBe('head\ntail\n');
  });

  test('output re-arms it', async () => {
    const result = await unhindered(`: > writing; ${ticks(12, 'echo $i >&2; note; [ $i = 12 ] && rm writing')}`);
    expect(result).toMatchObject({ stdout: 'head\n', stderr: seq(1, 12) });
  });

  test('the time of the command is that of its shell', async () => {
    const [result, elapsed] = await timed(() => bash(ticks(12, 'echo $i'), { cwd: folder() }));
    expect(result.stdout).toMatch(/^head\n/);
    expect(result.durationMs).toBeLessThan(elapsed - 150);
  });

  test('output without end does not keep it past its whole limit of about 2 s', async () => {
    const seconds = mark();
    const [result, elapsed] = await timed(() =>
      bash(`(sleep ${seconds} & while kill -0 $!; do echo x; sleep .05; done) 2>/dev/null & echo head`),
    );
    // Which of the two writes first is not said.
    expect(result.stdout).toMatch(/^(x\n)*head\n(x\n)+$/);
    expect(elapsed).toBeGreaterThan(1_500);
    expect(elapsed).toBeLessThan(2_000 + HANG);
    expect(result.survivors.length).toBeGreaterThanOrEqual(1);
  });
});

test('`exec > >(tee log) 2>&1; echo ok`: ok, promptly', async () => {
  const cwd = folder();
  const result = await promptly(() => bash('exec > >(tee log) 2>&1; echo ok; echo no >&2', { cwd }));
  expect(result).toMatchObject({ stdout: 'ok\nno\n', stderr: '', exitCode: 0 });
  expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('ok\nno\n');
});

// From here to `kill -STOP` they wait most of their time.
test.concurrent('`exec >&- 2>&-; sleep 1; exit 7`: waits for the exit, not for the end of file', async () => {
  const result = await bash('exec >&- 2>&-; sleep 1; exit 7');
  expect(result).toMatchObject({ status: 'exited', exitCode: 7, stdout: '', stderr: '' });
  expect(result.durationMs).toBeGreaterThanOrEqual(950);
});

test.concurrent('`mkfifo p; (while :; do echo x; sleep 1; done)>p & cat p` at its limit: the tree is killed, with the output', async () => {
  const seconds = mark();
  const cwd = folder();
  const command = `mkfifo p; (sleep ${seconds} & while :; do echo x; sleep .2; done)>p & cat p`;
  const [result, elapsed] = await timed(() => bash(command, { cwd, timeoutMs: 2_000 }));
  expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 2_000 });
  expect(result.stdout).toMatch(/^(x\n)+$/);
  expect(elapsed).toBeGreaterThan(1_900);
  expect(elapsed).toBeLessThan(2_000 + HANG);
  expect(sleepers(seconds)).toEqual([]);
});

test.concurrent('`timeout 1 cat fifo; echo $?`, 50 times: 124 every time', async () => {
  const cwd = folder();
  await bash('mkfifo fifo', { cwd });
  const one = async () => (await bash('timeout 1 cat fifo; echo $?', { cwd })).stdout;
  const all: string[] = [];
  for (let round = 0; round < 2; round++) all.push(...(await Promise.all(Array.from({ length: 25 }, one))));
  expect(all).toEqual(Array.from({ length: 50 }, () => '124\n'));
});

describe.concurrent('what does not want to end is killed after the grace', () => {
  test.each([
    ["`trap '' TERM; while :; do :; done`", "trap '' TERM; while :; do :; done"],
    ['a handler that goes on', "trap 'echo no' TERM INT HUP; while :; do sleep .05; done"],
    ['a child that ignores it', 'bash -c \'trap "" TERM; while :; do sleep .05; done\'; echo after'],
  ])('%s', async (_, command) => {
    const [result, elapsed] = await timed(() => bash(command, { timeoutMs: 1_000, graceMs: 300 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(elapsed).toBeGreaterThan(1_200);
    expect(elapsed).toBeLessThan(1_300 + HANG);
    expect(alive(result.pid)).toBe(false);
  });

  test('and the result says what ended the shell', async () => {
    const result = await bash("trap '' TERM; while :; do :; done", { timeoutMs: 1_500, graceMs: 0 });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: 'SIGKILL' });
  });
});

describe.concurrent('`kill -STOP $$` at its limit: a stopped process is ended as well', () => {
  test('the shell itself', async () => {
    const [result, elapsed] = await timed(() => bash('echo on; kill -STOP $$; echo off', { timeoutMs: 1_000 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, stdout: 'on\n' });
    expect(elapsed).toBeLessThan(3_000 + HANG);
    expect(alive(result.pid)).toBe(false);
  });

  test('a child of it', async () => {
    const seconds = mark();
    const command = `sleep ${seconds} & kill -STOP $!; wait`;
    const result = await bash(command, { timeoutMs: 1_000, graceMs: 500 });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe('without input stdin is empty: returns at once', () => {
  test.each([
    ['cat', 0, ''],
    ['wc -c | tr -d " "', 0, '0\n'],
    ['grep foo', 1, ''],
    ['read -r line; echo "$?:$line"', 0, '1:\n'],
    ['sort | uniq -c', 0, ''],
    ["node -e \"process.stdin.on('end', () => console.log('end')).resume()\"", 0, 'end\n'],
    ['bash', 0, ''],
  ])('%s', async (command, exitCode, stdout) => {
    const [result, elapsed] = await timed(() => bash(command));
    expect(result).toMatchObject({ status: 'exited', exitCode, stdout });
    expect(elapsed).toBeLessThan(HANG);
  });
});

describe('no controlling terminal, no pager, no editor', () => {
  test('`</dev/tty` fails at once with its message', async () => {
    const result = await bash('read -r secret </dev/tty; echo "code $?"');
    expect(result.stdout).toBe('code 1\n');
    expect(result.stderr).toContain('/dev/tty');
  });

  test('no stream is a terminal', async () => {
    expect((await bash('for fd in 0 1 2; do test -t $fd; echo $?; done; tty')).stdout).toBe('1\n1\n1\nnot a tty\n');
  });

  testNeeding('ssh', hasProgram('ssh'))('`ssh -T host` fails at once, with its message', async () => {
    const [result, elapsed] = await timed(() => bash('ssh -T -p 1 somebody@127.0.0.1'));
    expect(result.status).toBe('exited');
    expect(result.exitCode).toBe(255);
    expect(result.stderr).toContain('127.0.0.1');
    expect(elapsed).toBeLessThan(HANG);
  });

  test('`sudo -v` ends at once', async () => {
    const [result, elapsed] = await timed(() => bash('sudo -k -v'));
    expect(result.status).toBe('exited');
    expect(elapsed).toBeLessThan(HANG);
  });

  // Every pager and editor that a host can name is one that would never end.
  const names = ['PAGER', 'GIT_PAGER', 'MANPAGER', 'EDITOR', 'VISUAL', 'GIT_EDITOR', 'GIT_SEQUENCE_EDITOR'];
  function repository(): string {
    const cwd = folder();
    const seconds = mark();
    mkdirSync(join(cwd, 'bin'));
    for (const name of ['vim', 'less']) {
      writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\nexec sleep ${seconds}\n`);
      chmodSync(join(cwd, 'bin', name), 0o755);
    }
    hostEnv(Object.fromEntries(names.map((name) => [name, join(cwd, 'bin', name.endsWith('PAGER') ? 'less' : 'vim')])));
    const git = (...argv: string[]) => execFileSync('git', argv, { cwd, env: { PATH: process.env.PATH, HOME: cwd } });
    git('init', '-q');
    git('config', 'user.name', 'me');
    git('config', 'user.email', 'me@example.com');
    git('commit', '-q', '--allow-empty', '-m', 'the first');
    return cwd;
  }

  testNeeding('git', hasProgram('git'))('`git commit` with EDITOR=vim exported', async () => {
    const cwd = repository();
    const [result, elapsed] = await timed(() => bash('echo a > a; git add a; git commit', { cwd, timeoutMs: 15_000 }));
    expect(result.status).toBe('exited');
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr + result.stdout).not.toBe('');
    expect(elapsed).toBeLessThan(HANG);
  });

  testNeeding('git', hasProgram('git'))('`git log` and `git commit --amend --no-edit` as ever', async () => {
    const cwd = repository();
    const [result, elapsed] = await timed(() =>
      bash('git commit --amend --no-edit --allow-empty -q && git log --format=%s', { cwd, timeoutMs: 15_000 }),
    );
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'the first\n' });
    expect(elapsed).toBeLessThan(HANG);
  });
});

test('`diff <(echo a) <(echo b)`: exit 1 at once', async () => {
  const result = await promptly(() => bash('diff <(echo a) <(echo b)'));
  expect(result).toMatchObject({ exitCode: 1, stdout: '1c1\n< a\n---\n> b\n' });
});

test('a profile that starts something or prints is not read at all', async () => {
  const home = folder();
  const seconds = mark();
  for (const name of ['.bashrc', '.bash_profile', '.bash_login', '.profile', '.bash_logout', '.bash_aliases']) {
    writeFileSync(join(home, name), `echo from ${name}; sleep ${seconds} & export SEEN=${name}\n`);
  }
  const result = await bash('echo "seen: $SEEN"', { env: { HOME: home } });
  expect(result).toMatchObject({ stdout: 'seen: \n', stderr: '', survivors: [] });
  expect(sleepers(seconds)).toEqual([]);
});

// So do these.
describe.concurrent('a promise after an abort always settles', () => {
  test('whatever the tree ignores', async () => {
    const seconds = mark();
    const controller = new AbortController();
    const command = `trap '' TERM INT HUP; sleep ${seconds} & while :; do :; done`;
    const promise = bash(command, { signal: controller.signal, graceMs: 200 });
    await until(() => sleepers(seconds).length === 1);
    controller.abort();
    const [result, elapsed] = await timed(() => settles(promise));
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGKILL' });
    expect(elapsed).toBeLessThan(1_200 + HANG);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('whatever the listener does', async () => {
    const controller = new AbortController();
    const calls: string[] = [];
    const promise = bash('yes', {
      signal: controller.signal,
      graceMs: 200,
      onOutput: ({ stream }) => {
        calls.push(stream);
        return new Promise<void>(() => {});
      },
    });
    await until(() => calls.length > 0);
    controller.abort();
    const result = await settles(promise);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(calls).toHaveLength(1);
    expect(alive(result.pid)).toBe(false);
  });

  test('while a large stdin waits to be read', async () => {
    const controller = new AbortController();
    const seconds = mark();
    const promise = bash(`sleep ${seconds}`, { signal: controller.signal, stdin: Buffer.alloc(8 << 20, 'x') });
    await until(() => sleepers(seconds).length === 1);
    controller.abort();
    expect(await settles(promise)).toMatchObject({ status: 'aborted', exitCode: 130 });
  });
});

describe.concurrent('a script with nothing but commands', () => {
  test("only `await bash('sleep 1')` pending: Node stays alive, then exits 0 by itself", async () => {
    const script = host("const result = await bash('sleep 1; echo slept');\nprocess.stdout.write(result.stdout);");
    const [{ code }, elapsed] = await timed(() => script.ended());
    expect(code).toBe(0);
    expect(script.stdout()).toBe('slept\n');
    expect(elapsed).toBeGreaterThan(950);
    expect(elapsed).toBeLessThan(1_000 + HANG);
  });

  test('a survivor does not keep it alive, and lives on', async () => {
    const seconds = mark();
    const script = host(
      `const { survivors } = await bash('sleep ${seconds} & echo hi');\nconsole.log(survivors.length);`,
    );
    expect((await script.ended()).code).toBe(0);
    expect(script.stdout()).toBe('1\n');
    expect(sleepers(seconds)).toHaveLength(1);
  });

  test('a rejected call does not keep it alive', async () => {
    const script = host("await bash('true', { cwd: '/nowhere/at/all' }).catch(({ code }) => console.log(code));");
    expect((await script.ended()).code).toBe(0);
    expect(script.stdout()).toBe('ERR_BASH_CWD_NOT_FOUND\n');
  });
});
