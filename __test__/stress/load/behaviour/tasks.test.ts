import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { type BackgroundTask, type BashResult, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  body,
  closings,
  ended,
  gapless,
  gate,
  heard,
  logOf,
  numbered,
  open,
  registry,
  said,
  shimOf,
  tasksFolder,
  tasksHost,
} from '../../../background/support.ts';
import {
  alive,
  fixture,
  folder,
  HANG,
  hasProgram,
  hostResult,
  kill,
  linuxTest,
  mark,
  processOf,
  rejection,
  settles,
  sleepers,
  supervisorOf,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';

// The rows of BEHAVIOUR.md that speak of tasks, survivors and the end of a host; ../background/ goes into each of them.

describe('Returns when it should', () => {
  test('`sleep 60 & echo hi`: with a registry adopted as a task whose further output is kept', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `(sleep .1; ${gate()}; echo later; exit 2) & echo hi`;
    const [result, elapsed] = await timed(() => bash(command, { registry: tasks, cwd }));
    expect(result).toMatchObject({ stdout: 'hi\n', exitCode: 0 });
    expect(elapsed).toBeLessThan(HANG);
    const id = result.survivors.find(({ taskId }) => taskId)?.taskId ?? '';
    open(cwd);
    expect(await settles(tasks.wait(id))).toMatchObject({ output: 'later\n', task: { state: 'exited', exitCode: 2 } });
  });

  test('`sleep 9 </dev/null >/dev/null &` (holds only stderr): the same', async () => {
    const tasks = registry();
    const cwd = folder();
    const command = `(${gate()}; echo later >&2) </dev/null >/dev/null & echo hi`;
    const result = await bash(command, { registry: tasks, cwd });
    const id = result.survivors.find(({ taskId }) => taskId)?.taskId ?? '';
    open(cwd);
    expect((await settles(tasks.wait(id))).output).toBe('later\n');
  });

  test('`rg foo` or `cat` without input: returns at once, in the background too', async () => {
    const tasks = registry();
    const [last, elapsed] = await timed(async () => ended(tasks, await tasks.start('cat; grep foo; exit 7')));
    expect(last).toMatchObject({ state: 'exited', exitCode: 7 });
    expect(elapsed).toBeLessThan(HANG);
  });

  test('only a pending command keeps Node alive: a task in the background does not', async () => {
    const one = tasksHost({ dir: tasksFolder() }, `await registry.start('sleep ${mark()}');`);
    expect((await settles(one.ended(), HANG)).code).toBe(0);
  });
});

describe('Nothing left behind, nobody else hurt', () => {
  linuxTest('Linux: `setsid`, double fork, `nohup`, `env -i setsid`: found and killed with the task', async () => {
    const tasks = registry();
    const seconds = mark();
    const command = `setsid sleep ${seconds} & ( ( sleep ${seconds} & ) & ); nohup sleep ${seconds} >/dev/null 2>&1 & env -i "$(command -v setsid)" "$(command -v sleep)" ${seconds} & wait`;
    const task = await tasks.start(command);
    await until(() => sleepers(seconds).length === 4);
    await settles(tasks.kill(task.id));
    expect(sleepers(seconds)).toEqual([]);
  });

  test('a dev server with grandchildren, task killed: its port is free again', async () => {
    const tasks = registry();
    const task = await tasks.start(`node ${fixture('server.mjs')}`);
    const port = Number(/port (\d+)/.exec((await heard(tasks, task, /port \d+\n/)).output)?.[1]);
    await settles(tasks.kill(task.id));
    const answers = await new Promise((resolve) => {
      connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    });
    expect(answers).toBe(false);
  });

  testNeeding('python3', hasProgram('python3'))(
    'a Python job with `atexit` and a SIGTERM handler, killed: SIGTERM first, its clean-up output is kept',
    async () => {
      const tasks = registry();
      const task = await tasks.start(`python3 ${fixture('job.py')}`);
      await heard(tasks, task, 'ready');
      expect((await settles(tasks.kill(task.id))).output).toContain('cleaned up\n');
    },
  );

  linuxTest.each([
    ["`sh -c 'kill $PPID'`", "sh -c 'kill $PPID'; exit 3"],
    ['`kill $PPID`', 'kill $PPID; sleep .2; exit 3'],
    ['`kill -9 $PPID`', 'kill -9 $PPID; sleep SECONDS'],
    ['`kill -STOP $PPID` and an end', 'kill -STOP $PPID; exit 3'],
  ])('Linux: %s in a task: the host survives, later commands run, its end is told', async (_, text) => {
    const tasks = registry();
    const seconds = mark();
    const task = await tasks.start(text.replaceAll('SECONDS', seconds), { timeoutMs: 20_000 });
    const last = await ended(tasks, task);
    expect(last.state).not.toBe('running');
    expect(closings(logOf(task))).toHaveLength(1);
    expect(await settles(bash('echo later'))).toMatchObject({ exitCode: 0, stdout: 'later\n' });
    expect((await settles(tasks.wait((await tasks.start('echo next')).id))).output).toBe('next\n');
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest('Linux: any of our own helpers is killed: nothing stays behind but tasks with `dir`', async () => {
    const seconds = { gone: mark(), kept: mark() };
    const fleeting = registry();
    const kept = registry({ dir: tasksFolder() });
    const task = await fleeting.start(`setsid sleep ${seconds.gone} & sleep ${seconds.gone}`);
    const stays = await kept.start(`sleep ${seconds.kept}; :`);
    const command = bash(`sleep ${seconds.gone}; :`);
    await until(() => sleepers(seconds.gone).length === 3 && sleepers(seconds.kept).length === 1);
    kill(supervisorOf()?.pid ?? 0, 'SIGKILL');
    expect((await settles(command)).notes.length).toBeGreaterThan(0);
    expect(['killed', 'lost']).toContain((await ended(fleeting, task)).state);
    expect((await settles(bash('echo again'))).stdout).toBe('again\n');
    await until(() => sleepers(seconds.gone).length === 0);
    expect((await kept.check(stays.id)).task.state).toBe('running');
    await until(() => sleepers(seconds.kept).length === 1);
  });

  test('kill a finished task: nothing is signalled', async () => {
    const tasks = registry();
    const task = await tasks.start('exit 3');
    await ended(tasks, task);
    expect((await settles(tasks.kill(task.pid))).task).toMatchObject({ state: 'exited', exitCode: 3 });
  });

  linuxTest('Linux: the host is killed with SIGKILL: tasks without `dir` go, those with `dir` go on', async () => {
    const dir = tasksFolder();
    const [gone, kept] = [mark(), mark()];
    const one = tasksHost(
      {},
      `await registry.start('setsid sleep ${gone} & sleep ${gone}');
       say(await new BackgroundRegistry({ dir: ${JSON.stringify(dir)} }).start('setsid sleep ${kept} & sleep ${kept}'));
       setInterval(() => {}, 1000);`,
    );
    const task = await said<BackgroundTask>(one);
    await until(() => sleepers(gone).length === 2 && sleepers(kept).length === 2);
    one.process.kill('SIGKILL');
    const [, elapsed] = await timed(() => until(() => sleepers(gone).length === 0));
    expect(elapsed).toBeLessThan(2_000 + HANG);
    await until(() => sleepers(kept).length === 2);
    expect((await settles(registry({ dir }).kill(task.id))).task.state).toBe('killed');
    expect(sleepers(kept)).toEqual([]);
  });

  linuxTest('Linux: 100 × a task, then count zombies and descriptors: none, and as many as before', async () => {
    const one = tasksHost(
      { maxTasks: 200 },
      `const { readdirSync, readFileSync } = await import('node:fs');
       const count = () => readdirSync('/proc/self/fd').length;
       const round = async () => {
         const started = await Promise.all(Array.from({ length: 20 }, (_, n) => registry.start(n % 2 ? 'exit 1' : 'sleep 60')));
         await Promise.all(started.map(({ id }, n) => (n % 2 ? registry.wait(id) : registry.kill(id))));
       };
       await round();
       const before = count();
       for (let n = 0; n < 5; n++) await round();
       for (let n = 0; n < 500 && count() > before; n++) await new Promise((resolve) => setTimeout(resolve, 20));
       // One that has just ended waits for its parent for a moment.
       const zombies = () => {
       const parents = new Map(readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).flatMap((pid) => {
         try {
           const stat = readFileSync('/proc/' + pid + '/stat', 'utf8');
           const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
           return [[Number(pid), [Number(ppid), state]]];
         } catch { return []; }
       }));
       const below = (pid) => pid === process.pid || (parents.has(pid) && below(parents.get(pid)[0]));
       return [...parents].filter(([pid, [, state]]) => state === 'Z' && below(pid)).length;
       };
       for (let n = 0; n < 500 && zombies() > 0; n++) await new Promise((resolve) => setTimeout(resolve, 20));
       say([before, count(), zombies()]);`,
    );
    const [before, after, zombies] = await said<[number, number, number]>(one);
    expect(after).toBeLessThanOrEqual(before);
    expect(zombies).toBe(0);
  });

  test('Escape during a foreground command: background tasks go on', async () => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}`);
    const stop = new AbortController();
    const moved = await settles(bash(`sleep ${mark()}`, { registry: tasks, timeoutMs: 1_500, signal: stop.signal }));
    const command = bash(`sleep ${mark()}`, { registry: tasks, signal: stop.signal });
    await bash('true');
    stop.abort();
    expect((await settles(command)).status).toBe('aborted');
    for (const id of [task.id, moved.background?.id ?? '']) {
      expect((await tasks.check(id)).task.state).toBe('running');
    }
  });
});

describe('Nothing lost, nothing untrue', () => {
  test('a background task killed at its limit (`killed` with the signal); one that ends with 1 (exit code 1)', async () => {
    const tasks = registry();
    const late = await tasks.start('sleep 60', { timeoutMs: 1_500 });
    expect(await ended(tasks, late)).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 124 });
    const failed = await tasks.start('exit 1');
    expect(await ended(tasks, failed)).toMatchObject({ state: 'exited', signal: null, exitCode: 1 });
    expect(logOf(late) + logOf(failed)).not.toContain('completed');
  });

  test.each([
    ['', ''],
    ['; also when the host is killed right after', "process.kill(process.pid, 'SIGKILL');"],
  ])(
    'a task moved to the background at its limit: its log holds everything from the first byte, once%s',
    async (_, end) => {
      const dir = tasksFolder();
      const command = `${numbered(1_000, 100, '.05')}; exit 2`;
      const one = tasksHost(
        { dir },
        `say(await bash(${JSON.stringify(command)}, { registry, timeoutMs: 200 })); ${end}`,
      );
      const { background } = await said<BashResult>(one);
      if (!background) throw new Error('no task');
      expect(await ended(registry({ dir }), background)).toMatchObject({ state: 'exited', exitCode: 2 });
      expect(gapless(body(logOf(background)))).toEqual({ o: 1_000, e: 1_000 });
    },
  );

  test('`echo x >/dev/stdout` in a background task: its log keeps the earlier output', async () => {
    const tasks = registry();
    const task = await tasks.start('echo before; echo x >/dev/stdout; echo y >/dev/stderr; echo after');
    await ended(tasks, task);
    expect(body(logOf(task)).split('\n').sort()).toEqual(['', 'after', 'before', 'x', 'y']);
    expect(logOf(task).startsWith('before\n')).toBe(true);
  });

  test('a survivor writes after the host is gone: it is not killed by it (SIGPIPE), as a task with `dir`', async () => {
    const dir = tasksFolder();
    const cwd = folder();
    const command = `(${gate()}; set -e; seq 100000; echo "$?" > survived) & echo hi`;
    const one = tasksHost(
      { dir },
      `say((await bash(${JSON.stringify(command)}, { registry, cwd: ${JSON.stringify(cwd)} })).stdout);`,
    );
    expect(await said(one)).toBe('hi\n');
    await one.ended();
    open(cwd);
    await until(() => existsSync(join(cwd, 'survived')) && readFileSync(join(cwd, 'survived'), 'utf8') === '0\n');
  });

  test('bytes `e2`, 50 ms later `80 94`: one em dash in the log', async () => {
    const tasks = registry();
    const task = await tasks.start("printf '\\xe2'; sleep .05; printf '\\x80\\x94\\n'");
    await ended(tasks, task);
    expect(body(logOf(task))).toBe('—\n');
  });

  test('the log of a finished task, after the registry is opened again: there, whole, with the right exit code', async () => {
    const dir = tasksFolder();
    const first = registry({ dir });
    const task = await first.start('seq 5000; exit 17');
    await ended(first, task);
    await first.close();
    const again = registry({ dir });
    expect(again.list()).toMatchObject([{ id: task.id, state: 'exited', exitCode: 17 }]);
    expect((await again.check(task.id)).newLines).toBe(5000);
    expect(logOf(task).endsWith('\n4999\n5000\n[background process failed: exit code 17]\n')).toBe(true);
  });
});

describe('Bounded', () => {
  test('`yes` in the background: the log stops at `maxLogBytes` with a note, the rest is dropped, the task goes on', async () => {
    const tasks = registry({ maxLogBytes: 1_000_000 });
    const task = await tasks.start('yes');
    await until(() => statSync(task.logPath).size >= 990_000);
    await bash('sleep .3');
    expect(statSync(task.logPath).size).toBeLessThanOrEqual(1_001_000);
    expect((await tasks.check(task.id)).task.state).toBe('running');
    await settles(tasks.kill(task.id));
    const lines = logOf(task).trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(/^\[background process killed: SIG\w+\]$/);
    expect(lines.at(-2)).toMatch(/^\[.*\]$/);
  });

  test('300 commands at once beside 64 tasks, the descriptor limit reached: all finish, no EMFILE', async () => {
    const found = await hostResult<Record<string, number>>(
      `import { BackgroundRegistry } from 'agent-bash';
       const registry = new BackgroundRegistry();
       const tasks = await Promise.all(Array.from({ length: 64 }, () => registry.start('sleep 60')));
       const results = await Promise.all(Array.from({ length: 300 }, (_, n) => bash('echo ' + n + '; exit 3')));
       const right = results.filter(({ stdout, exitCode }, n) => stdout === n + '\\n' && exitCode === 3).length;
       const running = registry.list().filter(({ state }) => state === 'running').length;
       await registry.close();
       console.log(JSON.stringify({ started: tasks.length, right, running }));`,
      { before: 'ulimit -n 256' },
    );
    expect(found).toEqual({ started: 64, right: 300, running: 64 });
  });

  linuxTest('Linux: a task that allocates until it is killed: its `oom_score_adj` is raised', async () => {
    const tasks = registry();
    const task = await tasks.start('cat /proc/self/oom_score_adj');
    expect(Number((await settles(tasks.wait(task.id))).output)).toBeGreaterThanOrEqual(500);
  });

  test('a 4 MB command runs in the background', async () => {
    const tasks = registry();
    const task = await tasks.start(`echo "$(( ${'1+'.repeat(100_000)}0 ))"; : ${'x'.repeat(4_000_000)}`);
    expect((await settles(tasks.wait(task.id))).output).toBe('100000\n');
  });
});

describe('Safe', () => {
  test('`stat` of log files: 0600 in a 0700 directory owned by the user', async () => {
    const tasks = registry({ dir: tasksFolder() });
    const task = await tasks.start('true');
    const [file, place] = [statSync(task.logPath), statSync(dirname(task.logPath))];
    expect([(file.mode & 0o777).toString(8), (place.mode & 0o777).toString(8)]).toEqual(['600', '700']);
    expect([file.uid, place.uid]).toEqual([process.getuid?.(), process.getuid?.()]);
  });

  test('a NUL, a missing cwd, no bash, limits out of range: an error with its code before anything starts', async () => {
    const tasks = registry();
    for (const [command, options, code] of [
      ['a\0b', {}, 'ERR_BASH_INVALID_ARG'],
      ['true', { cwd: '/nowhere' }, 'ERR_BASH_CWD_NOT_FOUND'],
      ['true', { shell: '/nowhere/bash' }, 'ERR_BASH_SHELL_NOT_FOUND'],
      ['true', { timeoutMs: 0 }, 'ERR_BASH_INVALID_ARG'],
    ] as const) {
      expect((await rejection(() => tasks.start(command, options))).code).toBe(code);
    }
    expect(tasks.list()).toEqual([]);
  });

  linuxTest('Linux: a helper of a task can be told in a list of processes', async () => {
    const tasks = registry();
    const task = await tasks.start(`sleep ${mark()}; :`);
    const shim = processOf(shimOf(task));
    expect(`${shim?.name} ${shim?.argv.join(' ')}`).toContain('agent-bash-s');
    expect(alive(task.pid)).toBe(true);
  });
});
