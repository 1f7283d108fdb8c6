import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackgroundTask, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { gate, heard, movedOf, open, registry } from '../../../background/support.ts';
import { folder, host, mark, settles, sleepers, until } from '../../../support/index.ts';

describe('when it happens', () => {
  test('with a registry the limit is 120 s, and without one 30 s', async () => {
    const tasks = registry();
    const timeouts = await Promise.all([
      bash('true', { registry: tasks }),
      bash('true', { registry: tasks, mode: 'slow' }),
      bash('true', { registry: tasks, onTimeout: 'kill' }),
      bash('true', { registry: tasks, onTimeout: 'background', timeoutMs: 5_000 }),
      bash('true'),
    ]);
    expect(timeouts.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, 900_000, 30_000, 5_000, 30_000]);
    expect(tasks.list()).toEqual([]);
  });

  test("`onTimeout: 'kill'` kills, with a registry too", async () => {
    const tasks = registry();
    const seconds = mark();
    const result = await settles(bash(`sleep ${seconds}`, { registry: tasks, timeoutMs: 300, onTimeout: 'kill' }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, background: null });
    expect([tasks.list(), sleepers(seconds)]).toEqual([[], []]);
  });

  test('a command that ends before is a command', async () => {
    const tasks = registry();
    const result = await bash('seq 3; exit 2', { registry: tasks, timeoutMs: 60_000 });
    expect(result).toMatchObject({ status: 'exited', exitCode: 2, stdout: '1\n2\n3\n', background: null });
    expect(result.truncation).toEqual({ stdout: null, stderr: null });
    expect(tasks.list()).toEqual([]);
  });

  test('without a registry it goes to the default one', async () => {
    const state = folder();
    const one = host(
      `const { background, status } = await bash('echo up; sleep 60', { timeoutMs: 1_500, onTimeout: 'background' });
       console.log(JSON.stringify([status, background]));`,
      { env: { XDG_STATE_HOME: state } },
    );
    expect((await one.ended()).code).toBe(0);
    const [status, task] = JSON.parse(one.stdout()) as [string, BackgroundTask];
    expect([status, task.logPath.startsWith(join(state, 'agent-bash/'))]).toEqual(['backgrounded', true]);
    const tasks = registry({ dir: join(state, 'agent-bash') });
    expect((await settles(tasks.kill(task.id))).task).toMatchObject({ state: 'killed', signal: 'SIGTERM' });
    expect(readFileSync(task.logPath, 'utf8')).toBe('up\n[background process killed: SIGTERM]\n');
  });

  test('where there is no place left: killed, with a note', async () => {
    const tasks = registry({ maxTasks: 1 });
    await tasks.start(`sleep ${mark()}`);
    const seconds = mark();
    const result = await settles(bash(`echo hi; sleep ${seconds}`, { registry: tasks, timeoutMs: 1_500 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, stdout: 'hi\n', background: null });
    expect(result.notes.join('\n')).toMatch(/tasks/);
    expect(sleepers(seconds)).toEqual([]);
    expect(tasks.list()).toHaveLength(1);
  });

  test('it counts as running: no place for more', async () => {
    const tasks = registry({ maxTasks: 1 });
    movedOf(await settles(bash(`sleep ${mark()}`, { registry: tasks, timeoutMs: 1_500 })));
    await expect(tasks.start('true')).rejects.toMatchObject({ code: 'ERR_BASH_TOO_MANY_TASKS' });
  });

  test('kill ends it with its tree', async () => {
    const tasks = registry();
    const seconds = mark();
    const command = `trap 'echo bye; exit 0' TERM; setsid sleep ${seconds} & echo up; wait`;
    const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs: 1_000 })));
    await until(() => sleepers(seconds).length === 1);
    const check = await settles(tasks.kill(task.id));
    expect(check.output).toContain('bye\n');
    expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('waits, patterns and events work as with any task', async () => {
    const tasks = registry();
    const cwd = folder();
    const exits: string[] = [];
    tasks.on('exit', ({ id }) => exits.push(id));
    const command = `echo start; ${gate()}; echo ready; ${gate('stop')}; exit 2`;
    const task = movedOf(await settles(bash(command, { registry: tasks, timeoutMs: 1_500, cwd })));
    open(cwd);
    expect((await heard(tasks, task, /^ready$/m)).matched).toBe(true);
    open(cwd, 'stop');
    await until(() => exits.length > 0);
    expect(exits).toEqual([task.id]);
  });
});
