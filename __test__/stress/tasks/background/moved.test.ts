import { type BashResult, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  closings,
  ended,
  files,
  gapless,
  gate,
  logOf,
  movedOf,
  numbered,
  open,
  registry,
  SOON,
  said,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import {
  alive,
  drip,
  everyByte,
  folder,
  hasLoneSurrogate,
  linuxTest,
  mark,
  seq,
  settles,
  sleepers,
  until,
} from '../../../support/index.ts';

// These tests wait most of their time.
describe.concurrent('at its limit a command goes on as a task', () => {
  test('the same process, with its partial output; the log has everything from the first byte, once', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `echo $$; echo o1; echo e1 >&2; ${gate()}; echo o2; echo e2 >&2; exit 3`;
    const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd }));
    const task = movedOf(result);
    expect(result).toMatchObject({
      stdout: `${task.pid}\no1\n`,
      stderr: 'e1\n',
      pid: task.pid,
      timeoutMs: 1_500,
      survivors: [],
    });
    expect(task).toStrictEqual({
      id: task.id,
      pid: result.pid,
      pgid: result.pid,
      command,
      cwd,
      logPath: task.logPath,
      startedAt: expect.any(Number),
      state: 'running',
      exitCode: null,
      signal: null,
      endedAt: null,
    });
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
    expect(tasks.list()).toStrictEqual([task]);
    expect(alive(task.pid)).toBe(true);
    open(cwd);
    expect(await ended(tasks, task)).toMatchObject({ id: task.id, state: 'exited', exitCode: 3 });
    const log = logOf(task);
    expect(log.endsWith('[background process failed: exit code 3]\n')).toBe(true);
    const lines = body(log).trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('e'))).toEqual([`${task.pid}`, 'o1', 'o2']);
    expect(lines.filter((line) => line.startsWith('e'))).toEqual(['e1', 'e2']);
    expect(closings(log)).toHaveLength(1);
  });

  test('`truncation` is set for both streams, and its path is the log', async () => {
    const tasks = registry();
    const command = `seq 5000; echo e >&2; sleep ${mark()}`;
    const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500 }));
    const task = movedOf(result);
    expect(result.truncation.stdout).toMatchObject({
      keep: 'tail',
      by: 'lines',
      totalLines: 5000,
      outputLines: 2000,
      path: task.logPath,
      notice: `[stdout: Showing last 2000 of 5000 lines. Full output: ${task.logPath}]`,
    });
    expect(result.stdout).toBe(`${seq(3001, 5000)}${result.truncation.stdout?.notice}`);
    expect(result.truncation.stderr).toMatchObject({
      totalLines: 1,
      outputLines: 1,
      firstLine: 1,
      lastLine: 1,
      totalBytes: 2,
      outputBytes: 2,
      partialLine: false,
      path: task.logPath,
      notice: '',
    });
    expect(result.stderr).toBe('e\n');
  });

  test('an earlier spill is in the log: no second file stays', async () => {
    const tasks = registry();
    const spill = folder();
    const command = `seq 20000; sleep ${mark()}`;
    const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500, spill: { dir: spill } }));
    const task = movedOf(result);
    expect(result.truncation.stdout).toMatchObject({ path: task.logPath, totalLines: 20_000 });
    await until(() => logOf(task) === seq(1, 20_000));
    expect(files(spill)).toEqual([]);
  });

  test('checks begin after the result, and the log can be read from 0', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `echo first; ${gate()}; echo second`;
    const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd })));
    open(cwd);
    await ended(tasks, task);
    expect((await tasks.check(task.id, { cursor: 0 })).output).toBe('first\nsecond\n');
  });

  test('an abort afterwards does not touch it', async () => {
    const tasks = registry();
    const cwd = folder();
    const stop = new AbortController();
    const options = { registry: tasks, timeoutMs: 1_500, cwd, signal: stop.signal };
    const task = movedOf(await settles(bash(`${gate()}; echo on; exit 4`, options)));
    stop.abort();
    await bash('true');
    expect((await tasks.check(task.id)).task.state).toBe('running');
    open(cwd);
    expect(await settles(tasks.wait(task.id))).toMatchObject({ output: 'on\n', task: { exitCode: 4 } });
  });

  test('an abort together with the limit: one of both', async () => {
    const tasks = registry();
    const seconds = mark();
    const results = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const signal = AbortSignal.timeout(300 + (n % 5) * 2);
        return bash(`sleep ${seconds}; :`, { registry: tasks, timeoutMs: 304, signal });
      }),
    );
    for (const { status, background } of results) {
      expect(status === 'backgrounded' ? background?.state : status).toMatch(/^(running|aborted)$/);
    }
    const moved = results.filter(({ status }) => status === 'backgrounded').length;
    expect(tasks.list().filter(({ state }) => state === 'running')).toHaveLength(moved);
    await until(() => sleepers(seconds).length === moved);
  });

  test('its stdin is still fed', async () => {
    const tasks = registry();
    const cwd = folder();
    const options = { registry: tasks, timeoutMs: 1_500, cwd, stdin: 'x'.repeat(3_000_000) };
    const task = movedOf(await settles(bash(`head -c 10; echo; ${gate()}; wc -c`, options)));
    open(cwd);
    const { output } = await settles(tasks.wait(task.id));
    // Bytes that `head` took from its pipe are unknown, at most 64 KiB.
    const count = Number(/(\d+)\n$/.exec(output)?.[1]);
    expect(count).toBeGreaterThanOrEqual(3_000_000 - 65_536);
    expect(count).toBeLessThanOrEqual(3_000_000 - 10);
  });

  test('`onOutput` has all that is in the result, and is over with it', async () => {
    const tasks = registry();
    const cwd = folder();
    const heardOf = { stdout: '', stderr: '' };
    let over = false;
    let late = 0;
    const result = await settles(
      bash(`seq 3000; seq 4000 4999 >&2; ${gate()}; echo late`, {
        registry: tasks,
        timeoutMs: 1_500,
        cwd,
        truncate: { keep: 'tail', maxLines: 10_000 },
        onOutput: ({ stream, text }) => {
          heardOf[stream] += text;
          if (over) late += 1;
        },
      }),
    );
    over = true;
    const task = movedOf(result);
    expect(heardOf).toEqual({ stdout: seq(1, 3000), stderr: seq(4000, 4999) });
    expect([result.stdout, result.stderr]).toEqual([heardOf.stdout, heardOf.stderr]);
    open(cwd);
    await ended(tasks, task);
    expect(late).toBe(0);
  });

  test('a slow `onOutput` does not lose anything either', async () => {
    const tasks = registry();
    let text = '';
    const result = await settles(
      bash(`${numbered(4_000, 100, '.05')}; exit 6`, {
        registry: tasks,
        timeoutMs: 1_500,
        onOutput: async (chunk) => {
          text += chunk.text;
          await new Promise((resolve) => setTimeout(resolve, 20));
        },
      }),
      SOON,
    );
    const task = movedOf(result);
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 6 });
    expect(gapless(body(logOf(task)))).toEqual({ o: 4_000, e: 4_000 });
    gapless(text.slice(0, text.lastIndexOf('\n') + 1));
  });

  test('`merge` keeps the order', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `for i in {1..100}; do echo o$i; echo e$i >&2; done; ${gate()}; for i in {101..200}; do echo o$i; echo e$i >&2; done`;
    const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd, merge: true }));
    const task = movedOf(result);
    expect(result.stderr).toBe('');
    open(cwd);
    await ended(tasks, task);
    let expected = '';
    for (let n = 1; n <= 200; n++) expected += `o${n}\ne${n}\n`;
    expect(body(logOf(task))).toBe(expected);
  });
});

describe('the log is whole, whatever happens at the move', () => {
  test.each([60, 120, 200, 350])('heavy output of both streams, moved after %i ms', async (timeoutMs) => {
    const tasks = registry();
    const cwd = folder();
    const command = `${numbered(30_000)}; ${gate()}; exit 5`;
    const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs, cwd }), SOON));
    open(cwd);
    expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 5 });
    expect(gapless(body(logOf(task)))).toEqual({ o: 30_000, e: 30_000 });
  });

  test('as fast as it can: 60 MB', async () => {
    const tasks = registry();
    const count = 8_000_000;
    const result = await settles(bash(`seq ${count}; exit 5`, { registry: tasks, timeoutMs: 100, spill: false }), SOON);
    if (result.status !== 'backgrounded') return expect(result.exitCode).toBe(5);
    const task = movedOf(result);
    await ended(tasks, task);
    const log = logOf(task);
    expect(log.length).toBe(seq(1, count).length + '[background process failed: exit code 5]\n'.length);
    expect(log.startsWith(seq(1, count))).toBe(true);
  });

  test('every byte of characters by itself', async () => {
    const tasks = registry();
    const text = 'é—😀x漢\n'.repeat(40);
    for (const timeoutMs of [150, 300, 450]) {
      const result = await settles(bash(drip(everyByte(text)), { registry: tasks, timeoutMs, cwd: folder() }), SOON);
      const task = movedOf(result);
      expect(hasLoneSurrogate(result.stdout) || result.stdout.includes('\uFFFD')).toBe(false);
      expect(text.startsWith(result.stdout)).toBe(true);
      await ended(tasks, task);
      expect(body(logOf(task))).toBe(text);
    }
  });

  describe.concurrent('of a command that waits there', () => {
    test('a character that is cut by it', async () => {
      const tasks = registry();
      const cwd = folder();
      const command = `printf 'a\\xe2'; printf 'b\\xf0\\x9f' >&2; ${gate()}; printf '\\x80\\x94\\n'; printf '\\x98\\x80\\n' >&2`;
      const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd }));
      const task = movedOf(result);
      expect(result.stdout + result.stderr).not.toContain('\uFFFD');
      open(cwd);
      await ended(tasks, task);
      const log = body(logOf(task));
      expect(log).toContain('—');
      expect(log).toContain('😀');
      expect(log).not.toContain('\uFFFD');
      expect([...log].sort().join('')).toBe([...'\n\na—b😀'].sort().join(''));
    });

    test('an escape sequence that is cut by it', async () => {
      const tasks = registry();
      const cwd = folder();
      const command = `printf 'a\\e[3'; ${gate()}; printf '1mb\\e[0m\\n'`;
      const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd })));
      open(cwd);
      await ended(tasks, task);
      expect(body(logOf(task))).toBe('ab\n');
    });

    test('an unfinished line', async () => {
      const tasks = registry();
      const cwd = folder();
      const command = `echo one; printf 'Name? '; ${gate()}; echo me`;
      const result = await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd }));
      expect(result.stdout).toBe('one\nName? ');
      const task = movedOf(result);
      open(cwd);
      await ended(tasks, task);
      expect(body(logOf(task))).toBe('one\nName? me\n');
    });

    test('a task without output until then', async () => {
      const tasks = registry();
      const cwd = folder();
      const result = await settles(bash(`${gate()}; echo hi`, { registry: tasks, timeoutMs: 1_500, cwd }));
      expect([result.stdout, result.stderr]).toEqual(['', '']);
      const task = movedOf(result);
      open(cwd);
      await ended(tasks, task);
      expect(logOf(task)).toBe('hi\n[background process completed]\n');
    });

    test('streams that were closed before', async () => {
      const tasks = registry();
      const cwd = folder();
      const command = `echo hi; exec >&- 2>&-; ${gate()}; exit 7`;
      const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd })));
      open(cwd);
      expect(await ended(tasks, task)).toMatchObject({ state: 'exited', exitCode: 7 });
      expect(logOf(task)).toBe('hi\n[background process failed: exit code 7]\n');
    });
  });

  test('many at once', async () => {
    const tasks = registry();
    const results = await settles(
      Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          bash(`${numbered(200, 5, '.1')}; exit ${n}`, { registry: tasks, timeoutMs: 1_200 + n * 15 }),
        ),
      ),
      SOON,
    );
    for (const [n, result] of results.entries()) {
      const task = movedOf(result);
      expect(await ended(tasks, task)).toMatchObject({ exitCode: n });
      expect(gapless(body(logOf(task)))).toEqual({ o: 200, e: 200 });
    }
  });
});

describe.concurrent("the host's death right afterwards loses nothing", () => {
  test.each([50, 150, 250])('SIGKILL as soon as the result is there, limit %i ms', async (timeoutMs) => {
    const dir = tasksFolder();
    const one = tasksHost(
      { dir },
      `const result = await bash(${JSON.stringify(`${numbered(3_000, 200, '.05')}; exit 8`)}, { registry, timeoutMs: ${timeoutMs} });
       say(result);
       process.kill(process.pid, 'SIGKILL');`,
    );
    const task = movedOf(await said<BashResult>(one));
    const tasks = registry({ dir });
    expect(await ended(tasks, task)).toMatchObject({ id: task.id, state: 'exited', exitCode: 8 });
    expect(gapless(body(logOf(task)))).toEqual({ o: 3_000, e: 3_000 });
    expect(closings(logOf(task))).toEqual(['[background process failed: exit code 8]']);
  });

  linuxTest('Linux: without `dir` it ends with the host', async () => {
    const seconds = mark();
    const one = tasksHost(
      {},
      `say((await bash('setsid sleep ${seconds} & sleep ${seconds}', { registry, timeoutMs: 1_000 })).status);
       process.kill(process.pid, 'SIGKILL');`,
    );
    expect(await said(one)).toBe('backgrounded');
    await until(() => sleepers(seconds).length === 0);
  });
});
