import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { ran, running, terminal } from '../../../pty/support.ts';
import {
  alive,
  folder,
  HANG,
  host,
  hostResult,
  linuxTest,
  mark,
  sleepers,
  timed,
  until,
} from '../../../support/index.ts';

describe('kill', () => {
  test('ends the whole tree, and is an abort', async () => {
    const seconds = mark();
    // In a terminal nohup leaves a file.
    const cwd = folder();
    const session = await running(`setsid sleep ${seconds} & nohup sleep ${seconds} & sleep ${seconds}`, { cwd });
    await until(() => sleepers(seconds).length === 3);
    const [, elapsed] = await timed(() => session.kill());
    expect(sleepers(seconds)).toEqual([]);
    expect(elapsed).toBeLessThan(HANG);
    expect(await session.result()).toMatchObject({ status: 'aborted', exitCode: 130 });
    await session.kill();
  });

  test('hangs up first, then asks, then ends', async () => {
    // Which of two signals that come at once is handled first is up to the program: what counts is that both came.
    const program =
      'process.on("SIGHUP", () => console.log("hup")).on("SIGTERM", () => console.log("term")); console.log("up"); setInterval(() => {}, 1e3)';
    const session = await running(`exec '${process.execPath}' -e '${program}'`, { graceMs: 300 });
    await session.wait({ pattern: 'up' });
    await session.kill();
    const { stdout, ...result } = await session.result();
    expect(stdout).toMatch(/^up\n(hup\nterm|term\nhup)\n$/);
    expect(result).toMatchObject({ status: 'aborted', signal: 'SIGKILL' });
  });

  test('with a signal sends just that', async () => {
    const session = await running("trap 'echo usr; exit 9' USR1; echo up; while :; do read -t 0.05 x; done");
    await session.wait({ pattern: 'up' });
    await session.kill('SIGUSR1');
    expect(await session.result()).toMatchObject({ stdout: 'up\nusr\n', status: 'exited', exitCode: 9 });
  });

  test('with a signal reaches the job that keys go to', async () => {
    const seconds = mark();
    const session = await running('PS1="$ " bash --norc --noprofile -i');
    await session.wait({ pattern: '\\$ $' });
    await session.write(`sleep ${seconds}\r`);
    await until(() => sleepers(seconds).length === 1);
    await session.kill('SIGINT');
    await until(() => sleepers(seconds).length === 0);
    await session.write('exit 3\r');
    expect((await session.result()).exitCode).toBe(3);
  });

  test('is what disposing does', async () => {
    const session = new PtySession();
    const { pid } = await session.start('sleep 100');
    await session[Symbol.asyncDispose]();
    expect(alive(pid)).toBe(false);
  });
});

describe('the end', () => {
  test.each(Array.from({ length: 20 }, (_, time) => time))('loses no last bytes (%i)', async (time) => {
    const result = await ran(`seq ${1000 + time}; printf end`);
    expect(result.stdout.endsWith(`\n${1000 + time}\nend`)).toBe(true);
  });

  test('is that of the shell, not of its terminal', async () => {
    const result = await ran('exec </dev/null >/dev/null 2>&1; sleep 0.2; echo still here > /dev/tty; exit 6');
    expect(result).toMatchObject({ stdout: 'still here\n', exitCode: 6 });
  });

  test('at the limit is a limit', async () => {
    const result = await ran('echo up; cat', { timeoutMs: 2_000 });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 2_000 });
    expect(result.stdout).toBe('up\n');
  });

  test('does not wait for survivors, which are listed', async () => {
    const seconds = mark();
    const result = await ran(`trap '' HUP; sleep ${seconds} & echo left`);
    expect(result.stdout).toBe('left\n');
    expect(result.survivors.map(({ command }) => command)).toEqual([`sleep ${seconds}`]);
  });

  test('leaves the screen as it was seen last', async () => {
    const session = await running('printf "one\\ntwo"; exit 0', { cols: 20, rows: 3 });
    await session.result();
    expect(session.screen().lines).toEqual(['one', 'two', '']);
    session.resize(10, 2);
    expect(session.screen().lines.length).toBe(2);
  });

  test('keeps the process no longer alive', async () => {
    const code = await hostResult<number>(`
      import { PtySession } from 'agent-bash';
      const session = new PtySession();
      await session.start('exit 3');
      session.on('data', () => {});
      console.log(JSON.stringify((await session.result()).exitCode));
    `);
    expect(code).toBe(3);
  });

  test('of the host comes while a program runs that does not hold it', async () => {
    const seconds = mark();
    const running = host(`
      import { PtySession } from 'agent-bash';
      const session = new PtySession();
      await session.start('sleep ${seconds}');
      session.unref();
      await session.wait({ timeoutMs: 50 });
      session.ref();
      session.unref();
      console.log('idle');
    `);
    await running.says(/idle/);
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    await until(() => sleepers(seconds).length === 0);
  });

  test('of a worker thread ends what runs in its terminals', async () => {
    const seconds = mark();
    const running = host(`
      import { Worker } from 'node:worker_threads';
      const worker = new Worker(\`
        import { parentPort } from 'node:worker_threads';
        import { PtySession } from 'agent-bash';
        await new PtySession().start('sleep ${seconds}');
        parentPort.postMessage('up');
      \`, { eval: true });
      await new Promise((resolve) => worker.on('message', resolve));
      await worker.terminate();
      console.log('terminated');
      setInterval(() => {}, 1000);
    `);
    await running.says(/terminated/);
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest("Linux: the host's hangs up: HUP, 500 ms, KILL", async () => {
    const seconds = mark();
    const cwd = folder();
    const file = join(cwd, 'told');
    const command = `trap 'echo hup >> told' HUP; trap 'echo term >> told' TERM; (trap '' HUP; exec sleep ${seconds}) & setsid sleep ${seconds} & echo up; while :; do read -t 0.05 x < /dev/null; sleep 0.05; done`;
    const running = host(`
      import { PtySession } from 'agent-bash';
      const session = new PtySession({ cwd: ${JSON.stringify(cwd)}, graceMs: 15_000 });
      await session.start(${JSON.stringify(command)});
      await session.wait({ pattern: 'up' });
      console.log('up');
    `);
    await running.says(/up/);
    await until(() => sleepers(seconds).length === 2);
    running.process.kill('SIGKILL');
    await running.ended();
    const [, elapsed] = await timed(() => until(() => sleepers(seconds).length === 0));
    expect(elapsed).toBeLessThan(HANG);
    expect(readFileSync(file, 'utf8')).toMatch(/^(hup\n)+$/);
  });
});

describe('resize', () => {
  test('is sent to the program', async () => {
    const session = await running(
      'trap \'stty size\' WINCH; echo up; while :; do read -t 0.05 x; [ "$x" = q ] && exit; done',
    );
    await session.wait({ pattern: 'up' });
    session.resize(132, 50);
    expect((await session.wait({ pattern: '50 132', timeoutMs: 20_000 })).reason).toBe('pattern');
    expect(session.screen().lines.length).toBe(50);
    await session.write('q\r');
    await session.result();
  });

  test('before the start is the size that it starts with', async () => {
    const session = terminal();
    session.resize(65_535, 65_535);
    await session.start('stty size');
    expect((await session.result()).stdout).toBe('65535 65535\n');
  });
});
