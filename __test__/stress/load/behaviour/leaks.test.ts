import { getEventListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  confined,
  daemon,
  daemons,
  fixture,
  folder,
  hasProgram,
  linuxTest,
  mark,
  settles,
  sleepers,
  testNeeding,
  until,
} from '../../../support/index.ts';

describe('Linux: a daemon is found and killed with the tree', () => {
  linuxTest.each(daemons)('%s, at an abort', async (_, text) => {
    const seconds = mark();
    const hold = mark();
    const controller = new AbortController();
    const command = `${daemon(text, seconds)}\nsleep ${hold}`;
    const promise = bash(command, { signal: controller.signal, graceMs: 300 });
    await until(() => sleepers(seconds).length === 1 && sleepers(hold).length === 1);
    controller.abort();
    const result = await settles(promise);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, survivors: [] });
    expect(sleepers(seconds)).toEqual([]);
    expect(sleepers(hold)).toEqual([]);
  });

  linuxTest('`setsid sleep 300 & wait`, limit 1 s', async () => {
    const seconds = mark();
    const result = await bash(`setsid sleep ${seconds} & wait`, { timeoutMs: 1_000, graceMs: 300 });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, survivors: [] });
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('all of them at once, at a limit', async () => {
    const marks = daemons.map(() => mark());
    const hold = mark();
    const command = daemons.map(([, text], index) => daemon(text, marks[index] ?? '')).join('\n');
    const result = await bash(`${command}\nsleep ${hold}`, { timeoutMs: 2_500, graceMs: 300 });
    expect(result.status).toBe('timed-out');
    expect([...marks, hold].flatMap(sleepers)).toEqual([]);
  });

  linuxTest('one whose parents have all ended before', async () => {
    const seconds = mark();
    const cwd = folder();
    const controller = new AbortController();
    const command = `bash -c '(setsid bash -c "sleep ${seconds} & disown" &)'; while :; do sleep .05; done`;
    const promise = bash(command, { cwd, signal: controller.signal, graceMs: 300 });
    await until(() => sleepers(seconds).length === 1);
    controller.abort();
    expect((await settles(promise)).status).toBe('aborted');
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('a tree that goes on growing while it is killed', async () => {
    const seconds = mark();
    const controller = new AbortController();
    const command = `trap '' TERM; while :; do setsid sleep ${seconds} & sleep .02; done`;
    const promise = bash(command, { signal: controller.signal, graceMs: 200 });
    await until(() => sleepers(seconds).length > 5);
    controller.abort();
    expect((await settles(promise)).status).toBe('aborted');
    expect(sleepers(seconds)).toEqual([]);
  });
});

test('a dev server with grandchildren, killed: its port is free again', async () => {
  const controller = new AbortController();
  let text = '';
  const promise = bash(`echo start; node ${fixture('server.mjs')}; echo end`, {
    signal: controller.signal,
    onOutput: (chunk) => {
      text += chunk.text;
    },
  });
  const port = Number((await until(() => /port (\d+)/.exec(text)))[1]);
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.unref();
    });
  expect(await answers()).toBe(true);
  controller.abort();
  expect((await settles(promise)).status).toBe('aborted');
  expect(await answers()).toBe(false);
});

describe('a job with a handler, killed: gets SIGTERM first, its clean-up output is kept', () => {
  async function abortedWhenReady(command: string, graceMs = 10_000) {
    const controller = new AbortController();
    const promise = bash(command, {
      signal: controller.signal,
      graceMs,
      onOutput: ({ text }) => {
        if (text.includes('ready')) controller.abort();
      },
    });
    return settles(promise, 30_000);
  }

  test('bash itself', async () => {
    const command = "trap 'echo cleaned up; exit 3' TERM; echo ready; while :; do sleep .05; done";
    const result = await abortedWhenReady(command);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: null, stdout: 'ready\ncleaned up\n' });
  });

  test('node below bash', async () => {
    const script = `process.on('SIGTERM', () => { console.log('cleaned up'); process.exit(3); }); console.log('ready'); setInterval(() => {}, 1000)`;
    const result = await abortedWhenReady(`node -e ${JSON.stringify(script)}; echo after`);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(result.stdout).toMatch(/^ready\ncleaned up\n/);
  });

  testNeeding('python3', hasProgram('python3'))('a Python job with `atexit`', async () => {
    const result = await abortedWhenReady(`python3 ${fixture('job.py')}; echo after`);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(result.stdout).toMatch(/^ready\ncleaned up\n/);
  });

  test('SIGKILL after the grace', async () => {
    const command = "trap 'echo got it' TERM; echo ready; while :; do sleep .05; done";
    const result = await abortedWhenReady(command, 700);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGKILL' });
    expect(result.stdout).toMatch(/^ready\ngot it\n/);
  });

  test('with a grace of 0 there is no time for it', async () => {
    const command = "trap 'sleep 2; echo got it' TERM; echo ready; while :; do sleep .05; done";
    const result = await abortedWhenReady(command, 0);
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGKILL', stdout: 'ready\n' });
  });
});

describe('what a command does to its parent does not hurt the host', () => {
  test.each([
    ["`sh -c 'kill $PPID'`", "sh -c 'kill $PPID'; echo on"],
    ['`kill $PPID`', 'kill $PPID; sleep .2; echo on'],
    ['`kill -9 $PPID`', 'kill -9 $PPID; sleep SECONDS'],
    ['`kill -STOP $PPID`', 'kill -STOP $PPID; sleep SECONDS'],
    ['`kill -STOP $PPID` and an end', 'kill -STOP $PPID; exit 3'],
    ['`kill -INT 0`', 'kill -INT 0; sleep .1'],
    ['`kill -9 0`', 'kill -9 0'],
    ['`kill -HUP $PPID` in a child', "bash -c 'kill -HUP $PPID; exit 0'; exit 0"],
    ['the parent of the parent', 'read -r _ _ _ up _ </proc/$PPID/stat; kill -9 $up; sleep .2; exit 4'],
  ])('%s', async (_, text) => {
    const seconds = mark();
    const result = await settles(bash(text.replaceAll('SECONDS', seconds), { timeoutMs: 3_000, graceMs: 500 }));
    expect(typeof result.exitCode).toBe('number');
    expect(await settles(bash('echo later'))).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'later\n' });
    await until(() => sleepers(seconds).length === 0);
  });

  test('`kill -9 $PPID`: it ends signaled, SIGKILL, 137, with a note, and its tree is gone', async () => {
    const seconds = mark();
    const result = await settles(bash(`echo before; setsid sleep ${seconds} & kill -9 $PPID; sleep ${seconds}`));
    expect(result).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137, stdout: 'before\n' });
    expect(result.notes.length).toBeGreaterThanOrEqual(1);
    await until(() => sleepers(seconds).length === 0);
  });
});

describe('AbortSignal', () => {
  test('300 failed starts on one of them: no listener left', async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on('warning', warn);
    for (let n = 0; n < 100; n++) {
      const calls = [
        bash('true', { signal, cwd: '/nowhere/at/all' }),
        bash('true', { signal, shell: '/nowhere/bash' }),
        bash('true', { signal, timeoutMs: -1 }),
      ];
      for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('one that is aborted already: nothing is started', async () => {
    const cwd = folder();
    const signal = AbortSignal.abort();
    const result = await bash('touch started', { cwd, signal });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, stdout: '', stderr: '', survivors: [] });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(existsSync(join(cwd, 'started'))).toBe(false);
  });

  test('one that is aborted in the same turn', async () => {
    const cwd = folder();
    const controller = new AbortController();
    const promise = bash('sleep 30; touch started', { cwd, signal: controller.signal });
    controller.abort();
    expect(await settles(promise)).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(existsSync(join(cwd, 'started'))).toBe(false);
  });

  test('one that is aborted after the end changes nothing', async () => {
    const controller = new AbortController();
    const result = await bash('echo hi; exit 2', { signal: controller.signal });
    controller.abort();
    expect(result).toMatchObject({ status: 'exited', exitCode: 2, stdout: 'hi\n' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('many commands on one of them have one listener, and leave none', async () => {
    const { signal } = new AbortController();
    const running = Promise.all(Array.from({ length: 30 }, () => bash('true', { signal })));
    await Promise.resolve();
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
    await running;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('many commands on one of them are all ended by it', async () => {
    const controller = new AbortController();
    const running = Array.from({ length: 20 }, () => bash('sleep 60', { signal: controller.signal }));
    await bash('true');
    controller.abort();
    for (const result of await Promise.all(running)) expect(result).toMatchObject({ status: 'aborted', exitCode: 130 });
  });

  test('an abort after the exit of the shell ends its survivors', async () => {
    const controller = new AbortController();
    const seconds = mark();
    const result = await bash(`sleep ${seconds} & echo started`, {
      signal: controller.signal,
      // The line is written as the shell is about to exit. The survivors hold the pipes until the abort.
      onOutput: () => void setTimeout(() => controller.abort(), 100),
    });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, survivors: [] });
    expect(sleepers(seconds)).toEqual([]);
  });
});

linuxTest('Linux: `grep Sig /proc/self/status`: no signal blocked or ignored', async () => {
  const { stdout } = await bash('grep -E "^Sig(Blk|Ign)" /proc/self/status');
  expect(stdout).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
});

linuxTest('Linux: a command has its own session and group, and inherits no descriptor', async () => {
  const open = 'for fd in {0..1023}; do test -e /proc/$$/fd/$fd && echo $fd; done';
  const { stdout, pid } = await bash(`echo $$; cat /proc/$$/stat; ${open}; true`);
  const [own, stat = '', ...descriptors] = stdout.trimEnd().split('\n');
  // A confined command has another number inside.
  if (!confined) expect(Number(own)).toBe(pid);
  const [, , group, session, terminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  expect([group, session, terminal]).toEqual([own, own, '0']);
  expect(descriptors).toEqual(['0', '1', '2']);
});
