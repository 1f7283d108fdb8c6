import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { body, ended, logOf, movedOf, registry, said, tasksHost } from '../background/support.ts';
import { running } from '../pty/support.ts';
import {
  alive,
  confined,
  daemon,
  daemons,
  folder,
  host,
  linuxTest,
  mark,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  until,
} from '../support/index.ts';

// The promises whose details are tested with clocks that stand still, and in stress. Each test here waits for an event
// and counts only processes that it started.

describe('the whole tree is terminated', () => {
  linuxTest.each(daemons)('by an abort: %s', async (_, text) => {
    const [seconds, hold] = [mark(), mark()];
    const controller = new AbortController();
    const promise = bash(`${daemon(text, seconds)}\nsleep ${hold}`, { signal: controller.signal, graceMs: 300 });
    await until(() => sleepers(seconds).length === 1 && sleepers(hold).length === 1);
    controller.abort();
    expect(await settles(promise)).toMatchObject({ status: 'aborted', exitCode: 130, survivors: [] });
    expect([...sleepers(seconds), ...sleepers(hold)]).toEqual([]);
  });

  linuxTest('by a limit, and the result says so', async () => {
    const seconds = mark();
    const command = `setsid sleep ${seconds} & sleep ${seconds}`;
    const result = await settles(bash(command, { timeoutMs: 3_000, graceMs: 300 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 3_000, survivors: [] });
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('by a limit of processes, and a note says so', async () => {
    const seconds = mark();
    const command = `for i in {1..40}; do sleep ${seconds} & done; wait`;
    const result = await settles(bash(command, { limits: { processes: 20 } }));
    expect(result.notes).toEqual([expect.stringMatching(/^limits\.processes: .*more than 20 processes/)]);
    expect(result.signal).toBe('SIGKILL');
    expect(sleepers(seconds)).toEqual([]);
  });

  linuxTest('by the end of a terminal', async () => {
    const seconds = mark();
    const session = await running(`setsid sleep ${seconds} & sleep ${seconds}`, { graceMs: 300 });
    await until(() => sleepers(seconds).length === 2);
    await session.kill();
    expect(sleepers(seconds)).toEqual([]);
    expect(await session.result()).toMatchObject({ status: 'aborted', exitCode: 130 });
  });

  linuxTest('by the end of a task', async () => {
    const seconds = mark();
    const tasks = registry();
    const task = await tasks.start(`setsid sleep ${seconds} & sleep ${seconds}`, { graceMs: 300 });
    await until(() => sleepers(seconds).length === 2);
    await settles(tasks.kill(task.id));
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe("a host's end", () => {
  linuxTest('by SIGKILL takes its commands with it, and its helpers', async () => {
    const seconds = mark();
    const command = `(env -i setsid sleep ${seconds} &); setsid sleep ${seconds} & sleep ${seconds}`;
    const one = host(`void bash(${JSON.stringify(command)}); setInterval(() => {}, 1_000);`);
    await until(() => sleepers(seconds).length === 3);
    const supervisor = await until(() => supervisorOf(one.pid));
    const helpers = [supervisor.pid, ...shimsOf(supervisor.pid).map(({ pid }) => pid)];
    one.process.kill('SIGKILL');
    await one.ended();
    await until(() => sleepers(seconds).length === 0);
    await until(() => !helpers.some(alive));
  });

  linuxTest('leaves the tasks of a kept registry running, and their output is kept', async () => {
    const cwd = folder();
    const dir = folder();
    const source = `say(await registry.start('until [ -e go ]; do sleep .02; done; echo after', { cwd: ${JSON.stringify(cwd)} }));`;
    const one = tasksHost({ dir }, source);
    const task = await said<{ id: string; logPath: string }>(one);
    await one.ended();
    const tasks = registry({ dir });
    await bash('touch go', { cwd });
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(body(logOf(task))).toBe('after\n');
  });

  test('comes by itself after the last command, with 0', async () => {
    const one = host("const { stdout } = await bash('echo done'); console.log(stdout);");
    expect(await one.ended()).toEqual({ code: 0, signal: null });
    expect(one.stdout()).toBe('done\n\n');
  });
});

describe('no output is lost, and none is invented', () => {
  linuxTest('of a command that moves at its limit: its log has every byte, once', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = 'seq 20000; echo moved > moved; until [ -e go ]; do sleep .02; done; seq 20001 40000; exit 3';
    const result = await settles(bash(command, { registry: tasks, timeoutMs: 3_000, cwd }));
    const task = movedOf(result);
    await until(() => existsSync(join(cwd, 'moved')));
    await bash('touch go', { cwd });
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 3 });
    expect(body(logOf(task))).toBe(Array.from({ length: 40_000 }, (_, n) => `${n + 1}\n`).join(''));
  });

  test('of many commands at once: each has its own', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, n) => bash(`seq ${n * 100} ${n * 100 + 99}; exit ${n}`)),
    );
    for (const [n, { stdout, exitCode }] of all.entries()) {
      expect(stdout).toBe(Array.from({ length: 100 }, (_, more) => `${n * 100 + more}\n`).join(''));
      expect(exitCode).toBe(n);
    }
  });

  test('of a trap that cleans up when the command is aborted', async () => {
    const controller = new AbortController();
    const result = await settles(
      bash("trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep .02; done", {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      }),
    );
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, stdout: 'ready\ncleaned\n' });
  });
});

describe('the exit code is true', () => {
  test.each<[command: string, exitCode: number, signal?: string]>([
    ['true', 0],
    ['exit 3', 3],
    ['false | true', 0],
    ['set -o pipefail; false | true', 1],
    ['no-such-program-at-all', 127],
    ['kill -9 $$', 137, 'SIGKILL'],
    ['kill -TERM $$', 143, 'SIGTERM'],
  ])('%s: %i', async (command, exitCode, signal) => {
    const status = signal ? 'signaled' : 'exited';
    expect(await bash(command)).toMatchObject({ status, exitCode, signal: signal ?? null });
  });

  test('in a session, which keeps its state', async () => {
    const session = new BashSession();
    expect(await session.run('x=4; f() { return "$x"; }; cd /')).toMatchObject({ exitCode: 0, cwd: '/' });
    expect(await session.run('f')).toMatchObject({ exitCode: 4 });
    expect(await session.run('false | true; echo "${PIPESTATUS[0]} $PWD"')).toMatchObject({ stdout: '1 /\n' });
    await session.close();
  });
});

linuxTest('a survivor is listed, lives on and does not delay the result', async () => {
  const seconds = mark();
  const { survivors, exitCode } = await settles(bash(`setsid sleep ${seconds} > /dev/null 2>&1 & echo on`));
  expect(exitCode).toBe(0);
  // Inside a world the numbers are those of the world.
  if (!confined) expect(survivors.map(({ pid }) => pid)).toEqual(sleepers(seconds));
  expect(sleepers(seconds)).toHaveLength(1);
});

test('what is refused leaves nothing started', async () => {
  const cwd = folder();
  const controller = new AbortController();
  controller.abort();
  await expect(bash('touch made\0', { cwd })).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  await expect(bash('touch made; git push --force', { cwd })).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  expect((await settles(bash('sleep 60; touch made', { cwd, signal: controller.signal }))).status).toBe('aborted');
  expect(existsSync(join(cwd, 'made'))).toBe(false);
  await bash('echo 1 > made', { cwd });
  expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('1\n');
});
