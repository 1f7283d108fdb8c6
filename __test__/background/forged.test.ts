import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { BackgroundRegistry, type BackgroundTask } from 'agent-bash';
import { describe, expect } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { registry, stateFile, tasksFolder } from './support.ts';

describe('a FIFO that somebody put into the directory', () => {
  linuxTest.each([
    ['log', ({ logPath }: BackgroundTask) => logPath],
    ['state', stateFile],
  ])('in place of the %s of a task holds no call up', async (_, place) => {
    const dir = tasksFolder();
    const tasks = registry({ dir });
    const task = await tasks.start('echo hi');
    await tasks.wait(task.id);
    rmSync(place(task));
    execFileSync('mkfifo', [place(task)]);
    tasks.list();
    await tasks.check(task.id).catch(() => {});
    const next = await tasks.start('echo next');
    expect((await tasks.wait(next.id)).output).toBe('next\n');
    const other = new BackgroundRegistry({ dir });
    other.list();
    await other.close();
  });
});
