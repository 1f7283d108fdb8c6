import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BackgroundTask, bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { finished, folder, linuxTest, until } from '../support/index.ts';
import { registry, stateFile, tasksFolder } from './support.ts';

/** A directory with a task that has ended, and the task. */
async function withTask(): Promise<{ dir: string; task: BackgroundTask }> {
  const dir = tasksFolder();
  const tasks = registry({ dir });
  const task = await tasks.start('echo hi');
  await tasks.wait(task.id);
  return { dir, task };
}

/** Adds a task file like that of another task, with an empty log. Returns the id. */
function forge(task: BackgroundTask, fields: object): string {
  const id = `${task.id.slice(0, -1)}${task.id.endsWith('0') ? 1 : 0}`;
  const file = stateFile(task).replace(task.id, id);
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(stateFile(task), 'utf8')), id, ...fields }));
  writeFileSync(file.replace(/json$/, 'log'), '');
  const running = join(file, '../running');
  mkdirSync(running, { recursive: true });
  writeFileSync(join(running, id), '');
  return id;
}

describe('a FIFO in the directory', () => {
  linuxTest.each([
    ['log', ({ logPath }: BackgroundTask) => logPath],
    ['state', stateFile],
  ])('in place of the %s of a task holds no call up', async (_, place) => {
    const { dir, task } = await withTask();
    rmSync(place(task));
    execFileSync('mkfifo', [place(task)]);
    const tasks = registry({ dir });
    tasks.list();
    await tasks.check(task.id).catch(() => {});
    const next = await tasks.start('echo next');
    expect((await tasks.wait(next.id)).output).toBe('next\n');
    const other = new BackgroundRegistry({ dir });
    other.list();
    await other.close();
  });
});

describe('a forged task file', () => {
  linuxTest('names no cgroup but one that the kernel has made', async () => {
    const { dir, task } = await withTask();
    const victim = spawn('sleep', ['60']);
    finished(() => void victim.kill());
    const cgroup = join(folder(), 'agent-bash.99999.123.4026531836', '99999.124');
    mkdirSync(cgroup, { recursive: true });
    writeFileSync(join(cgroup, 'cgroup.procs'), `${victim.pid}\n`);
    const precious = join(folder(), 'precious');
    writeFileSync(precious, 'PRECIOUS');
    symlinkSync(precious, join(cgroup, 'cgroup.kill'));
    const id = forge(task, { state: 'running', exitCode: null, endedAt: null, mark: 'nobody', cgroup });
    const tasks = registry({ dir });
    await until(() => tasks.list().some((listed) => listed.id === id && listed.state === 'lost'));
    // The second search for processes of the task ends before this command does.
    await bash('sleep .2');
    expect([victim.exitCode, victim.signalCode, readFileSync(precious, 'utf8')]).toEqual([null, null, 'PRECIOUS']);
  });

  linuxTest('names no signal but one of the system', async () => {
    const { dir, task } = await withTask();
    const id = forge(task, { state: 'killed', exitCode: null, signal: 'S\u001b]0;evil\u0007' });
    const tasks = registry({ dir });
    expect(JSON.stringify(tasks.list())).not.toContain('evil');
    await expect(tasks.check(id)).rejects.toThrow(/there is no task/);
  });
});
