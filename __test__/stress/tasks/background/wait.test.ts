import { getEventListeners } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { gate, logOf, open, registry, said, tasksHost } from '../../../background/support.ts';
import { confined, exposing } from '../../../support/confined/index.ts';
import {
  drip,
  everyByte,
  fixture,
  folder,
  freePort,
  HANG,
  hasProgram,
  mark,
  rejection,
  settles,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';

describe('until the end', () => {
  test('with all that is unread, and no default limit', async () => {
    const tasks = registry();
    const task = await tasks.start('echo hi; sleep .4; echo end; exit 3');
    const check = await settles(tasks.wait(task.id));
    expect(check).toMatchObject({ output: 'hi\nend\n', newLines: 2, matched: false });
    expect(check.task).toMatchObject({ id: task.id, state: 'exited', exitCode: 3, signal: null });
    expect(check.task.endedAt).toBeGreaterThanOrEqual(task.startedAt);
  });

  test('of a task that has ended already: at once, again and again', async () => {
    const tasks = registry();
    const task = await tasks.start('echo hi');
    expect((await settles(tasks.wait(task.id))).output).toBe('hi\n');
    for (let n = 0; n < 3; n++) {
      expect(await settles(tasks.wait(task.id), HANG)).toMatchObject({ output: '', task: { exitCode: 0 } });
    }
    expect(await settles(tasks.wait(task.id, { pattern: 'hi', port: 9, timeoutMs: 80_000 }))).toMatchObject({
      matched: false,
    });
  });

  test('it is reported at once', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(gate(), { cwd });
    const waiting = tasks.wait(task.id);
    open(cwd);
    const [, elapsed] = await timed(() => settles(waiting));
    expect(elapsed).toBeLessThan(HANG);
  });
});

describe('until a pattern', () => {
  test.each<[string, string | RegExp, string]>([
    ['a word', 'ready', 'echo ready'],
    ['the source of a regular expression', 'port (\\d+)\\n', 'echo port 8080'],
    ['a RegExp', /list\w+ on/, 'echo listening on'],
    ['`i`', /READY/i, 'echo Ready'],
    ['`m`', /^ready$/m, 'echo not yet; echo ready; echo more'],
    ['no `m`: the start of the unread text', /^first/, 'echo first'],
    ['`s`', /a.b/s, 'echo a; echo b'],
    ['`u`', /\p{L}+é\u{1f600}/u, 'echo caféé😀'],
    ['`g` and `y`, which change nothing', /rea(?=dy)/g, 'echo -- ready'],
    ['a look behind', /(?<=port )80/, 'echo port 80'],
    ['a named group and a back reference', /(?<q>['"])up\k<q>/, `echo "'up'"`],
    ['an alternative', 'error|ready', 'echo ready'],
    ['text over lines', /one\ntwo\n/, 'echo one; sleep .1; echo two'],
    ['what stands on an unfinished line', 'Password:', "printf 'Password: '"],
  ])('%s', async (_, pattern, command) => {
    const tasks = registry();
    const task = await tasks.start(`${command}; sleep ${mark()}`);
    const check = await settles(tasks.wait(task.id, { pattern }));
    expect(check).toMatchObject({ matched: true, task: { state: 'running' } });
    expect(new RegExp(pattern).test(check.output)).toBe(true);
  });

  test('across the borders of chunks, each byte by itself', async () => {
    const tasks = registry();
    const text = 'listening on «localhost» 😀 now\n';
    const task = await tasks.start(`${drip(everyByte(text)).replace(/exit 0$/, '')}sleep ${mark()}`, { cwd: folder() });
    const check = await settles(tasks.wait(task.id, { pattern: /on «\w+» 😀 now/u }));
    expect(check.matched).toBe(true);
    expect(text.startsWith(check.output)).toBe(true);
  });

  test('unread output counts, read output does not', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`echo ready; ${gate()}; echo again; sleep ${mark()}`, { cwd });
    await until(() => logOf(task) === 'ready\n');
    expect(await settles(tasks.wait(task.id, { pattern: 'ready' }))).toMatchObject({
      matched: true,
      output: 'ready\n',
    });
    expect(await settles(tasks.wait(task.id, { pattern: 'ready', timeoutMs: 300 }))).toMatchObject({
      matched: false,
      output: '',
    });
    open(cwd);
    expect(await settles(tasks.wait(task.id, { pattern: 'again' }))).toMatchObject({
      matched: true,
      output: 'again\n',
    });
  });

  test('the output of waits and checks is each line once', async () => {
    const tasks = registry();
    const task = await tasks.start('for i in {1..60}; do echo "line $i"; sleep .01; done');
    let text = '';
    for (let n = 10; n <= 60; n += 10) {
      text += (await settles(tasks.wait(task.id, { pattern: `line ${n}\\n` }))).output;
      text += (await tasks.check(task.id)).output;
    }
    text += (await settles(tasks.wait(task.id))).output;
    let expected = '';
    for (let n = 1; n <= 60; n++) expected += `line ${n}\n`;
    expect(text).toBe(expected);
  });

  test('that comes far behind much output', async () => {
    const tasks = registry();
    const task = await tasks.start(`seq 400000; echo ready; sleep ${mark()}`);
    const check = await settles(tasks.wait(task.id, { pattern: /^ready$/m }), 60_000);
    expect(check).toMatchObject({ matched: true, newLines: 400_001 });
    expect(check.truncation).toMatchObject({ totalLines: 400_001 });
  });

  test('that never comes: the end counts', async () => {
    const tasks = registry();
    const task = await tasks.start('echo nothing; exit 1');
    expect(await settles(tasks.wait(task.id, { pattern: 'ready' }))).toMatchObject({
      matched: false,
      output: 'nothing\n',
      task: { state: 'exited', exitCode: 1 },
    });
  });

  test('in the last words of a task', async () => {
    const tasks = registry();
    const task = await tasks.start('printf ready; exit 1');
    expect((await settles(tasks.wait(task.id, { pattern: 'ready' }))).matched).toBe(true);
    const other = await tasks.start('echo hi');
    expect((await settles(tasks.wait(other.id, { pattern: 'background process' }))).matched).toBe(false);
  });

  test.each(['(', '[z-a]', '*', '(?<a>', '\\k<x>(?<y>)'])('%s is ERR_BASH_INVALID_ARG', async (pattern) => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const error = await rejection(() => tasks.wait(task.id, { pattern }));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('pattern') });
  });

  test('several waits at once, each for its own', async () => {
    const tasks = registry();
    const cwd = folder();
    const task = await tasks.start(`${gate('a')}; echo a; ${gate('b')}; echo b; ${gate('c')}; echo c`, { cwd });
    let done = 0;
    const waits = ['a', 'b', undefined].map(async (pattern) => {
      const check = await tasks.wait(task.id, pattern ? { pattern } : {});
      done += 1;
      return check;
    });
    expect(done).toBe(0);
    open(cwd, 'a');
    await settles(Promise.race(waits));
    open(cwd, 'b');
    await until(() => done >= 2);
    open(cwd, 'c');
    const checks = await settles(Promise.all(waits));
    expect(checks[2]?.task.state).toBe('exited');
    // Both share one cursor, so each line went to one of them.
    expect(
      checks
        .map(({ output }) => output)
        .join('')
        .split('\n')
        .sort(),
    ).toEqual(['', 'a', 'b', 'c']);
  });
});

describe('until a port accepts', () => {
  // If no process inside accepts a connection, the gate of its world resets it. This process may not see it open then.
  const answers = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      }).on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNRESET'));
    });

  test('a Node HTTP server', async () => {
    const tasks = registry();
    const port = await freePort();
    const task = await tasks.start(`sleep .3; node ${fixture('http-server.mjs')} ${port}`, exposing(port));
    expect(await settles(tasks.wait(task.id, { port }))).toMatchObject({ matched: true, task: { state: 'running' } });
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here');
    expect((await settles(tasks.kill(task.id))).task.state).toBe('killed');
    // An exposed port is open as long as the world.
    expect(await answers(port)).toBe(confined);
  });

  testNeeding('python3', hasProgram('python3'))('a Python HTTP server', async () => {
    const tasks = registry();
    const port = await freePort();
    const cwd = folder();
    open(cwd, 'there');
    const task = await tasks.start(`python3 -u -m http.server ${port} --bind 127.0.0.1`, { cwd, ...exposing(port) });
    expect((await settles(tasks.wait(task.id, { port }))).matched).toBe(true);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('there');
    expect((await settles(tasks.wait(task.id, { pattern: /"GET \/ HTTP\/1\.1" 200/ }))).matched).toBe(true);
    await settles(tasks.kill(task.id));
    // An exposed port is open as long as the world.
    expect(await answers(port)).toBe(confined);
  });

  const six = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  test.runIf(six)('of `::1` only, where there is IPv6', async () => {
    const tasks = registry();
    const port = await freePort();
    const task = await tasks.start(`node ${fixture('http-server.mjs')} ${port} ::1`);
    expect((await settles(tasks.wait(task.id, { port }))).matched).toBe(true);
  });

  test('a server that ends before it listens', async () => {
    const tasks = registry();
    const task = await tasks.start('echo cannot >&2; exit 1');
    expect(await settles(tasks.wait(task.id, { port: await freePort() }))).toMatchObject({
      matched: false,
      output: 'cannot\n',
      task: { exitCode: 1 },
    });
  });

  test('that no process opens: the time', async () => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const check = await settles(tasks.wait(task.id, { port: await freePort(), timeoutMs: 400 }));
    expect(check).toMatchObject({ matched: false, task: { state: 'running' } });
  });

  test('pattern and port: the first of both', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo ready; sleep ${mark()}`);
    const check = await settles(tasks.wait(task.id, { port: await freePort(), pattern: 'ready' }));
    expect(check).toMatchObject({ matched: true, output: 'ready\n' });
  });

  test.each([0, -1, 65_536, 1.5, Number.NaN, '80'])('%s is not a port', async (port) => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const error = await rejection(() => tasks.wait(task.id, { port: port as number }));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('port') });
  });
});

describe('until the time is over, or an abort', () => {
  test('the time: with the output so far', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo hi; sleep ${mark()}`);
    await until(() => logOf(task) === 'hi\n');
    const [check, elapsed] = await timed(() => settles(tasks.wait(task.id, { timeoutMs: 300 })));
    expect(check).toMatchObject({ output: 'hi\n', matched: false, task: { state: 'running' } });
    expect(elapsed).toBeGreaterThanOrEqual(290);
    expect(elapsed).toBeLessThan(300 + HANG);
  });

  test('an abort: with the output so far, and the task goes on', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo hi; sleep ${mark()}`);
    await until(() => logOf(task) === 'hi\n');
    const stop = new AbortController();
    const waiting = tasks.wait(task.id, { signal: stop.signal, pattern: 'never' });
    await sleep(20);
    stop.abort();
    expect(await settles(waiting, HANG)).toMatchObject({
      output: 'hi\n',
      matched: false,
      task: { state: 'running' },
    });
    expect((await tasks.check(task.id)).task.state).toBe('running');
  });

  test('a signal that is aborted already: at once', async () => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const check = await settles(tasks.wait(task.id, { signal: AbortSignal.abort() }), HANG);
    expect(check).toMatchObject({ output: '', task: { state: 'running' } });
  });

  test('an abort in the same turn, and one after the end', async () => {
    const tasks = registry();
    const task = await tasks.start('sleep .1; echo hi');
    const stop = new AbortController();
    const waiting = tasks.wait(task.id, { signal: stop.signal });
    stop.abort();
    await settles(waiting, HANG);
    const later = new AbortController();
    const check = await settles(tasks.wait(task.id, { signal: later.signal }));
    later.abort();
    expect(check.task.state).toBe('exited');
  });

  test('no listener stays on the signal', async () => {
    const tasks = registry();
    const { signal } = new AbortController();
    const task = await tasks.start('echo hi');
    for (let n = 0; n < 20; n++) await settles(tasks.wait(task.id, { signal, timeoutMs: 1_000 }));
    await rejection(() => tasks.wait(task.id, { signal, pattern: '(' }));
    await rejection(() => tasks.wait('unknown', { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test.each([{ timeoutMs: -1 }, { timeoutMs: Number.NaN }, { timeoutMs: '1' }, { pattern: 7 }, { signal: {} }])(
    '%j is ERR_BASH_INVALID_ARG',
    async (options) => {
      const tasks = registry();
      const task = await tasks.start('true');
      const error = await rejection(() => tasks.wait(task.id, options as object));
      expect(error).toMatchObject({
        code: 'ERR_BASH_INVALID_ARG',
        message: expect.stringContaining(Object.keys(options)[0] ?? ''),
      });
    },
  );
});

test('a pattern that backtracks without end holds neither its time, nor its abort, nor other commands', async () => {
  // The wait continues in a thread of that process, which the test kills.
  const one = tasksHost(
    {},
    `const task = await registry.start('echo ${'a'.repeat(36)}; sleep ${mark()}');
     const stop = new AbortController();
     const waits = [
       registry.wait(task.id, { pattern: '(a+)+b', timeoutMs: 500 }),
       registry.wait(task.id, { pattern: '(a+)+b', timeoutMs: 500 }),
       registry.wait(task.id, { pattern: '(a+)+b', signal: stop.signal }),
     ];
     const { stdout } = await bash('sleep .3; echo hi');
     stop.abort();
     say([stdout, ...(await Promise.all(waits)).map(({ matched }) => matched)]);`,
  );
  expect(await settles(said(one))).toEqual(['hi\n', false, false, false]);
});

describe('what keeps Node alive', () => {
  test('a pending wait does', async () => {
    const one = tasksHost(
      {},
      "const task = await registry.start('sleep 1; exit 5'); say(await registry.wait(task.id));",
    );
    expect((await one.ended()).code).toBe(0);
    expect(await said(one)).toMatchObject({ task: { exitCode: 5 } });
  });

  test.each([
    ['a running task does not', ''],
    ['nor do listeners', "registry.on('exit', () => {}); registry.on('output', () => {});"],
    ['nor what is over', 'await registry.check(task.id); await registry.wait(task.id, { timeoutMs: 50 });'],
    [
      'nor a wait that was aborted',
      'const c = new AbortController(); const w = registry.wait(task.id, { signal: c.signal }); c.abort(); await w;',
    ],
  ])('%s', async (_, more) => {
    const seconds = mark();
    const one = tasksHost({}, `const task = await registry.start('sleep ${seconds}'); ${more} say('last');`);
    expect(await settles(one.ended(), HANG)).toMatchObject({ code: 0 });
    expect(await said(one)).toBe('last');
  });
});

test('a wait holds nothing up: commands go on beside a hundred of them', async () => {
  const tasks = registry();
  const task = await tasks.start(`sleep ${mark()}`);
  const waits = Array.from({ length: 100 }, () => tasks.wait(task.id, { pattern: 'never' }));
  expect((await settles(bash('echo hi'))).stdout).toBe('hi\n');
  await settles(tasks.kill(task.id));
  for (const check of await settles(Promise.all(waits))) expect(check.task.state).toBe('killed');
});
