import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { BackgroundTask } from 'agent-bash';
import { describe, expect } from 'vitest';
import { isRoot, kill, linuxTest, mark, rejection, testNeeding, until } from '../support/index.ts';
import { hostOfSleeper, logOf, open, registry, said, stateFile, tasksFolder, tasksHost } from './support.ts';

function canSeparate(): boolean {
  try {
    execFileSync('unshare', ['-mpf', '--kill-child', '--mount-proc', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Two containers share a directory: each process below has a pid namespace of its own. */
const inContainers = isRoot ? testNeeding('pid namespaces', canSeparate(), 'linux') : testNeeding('root', true).skip;
const container = { before: 'set -- unshare -mpf --kill-child --mount-proc "$@"' };

/**
 * A container with a running and an ended task. Its first line is both. Once there is a file `go` it ends at once, its
 * helpers first: a helper that outlives its task for a moment records the end.
 */
function owner(dir: string) {
  return tasksHost(
    { dir },
    `const ended = await registry.start('echo over');
     await registry.wait(ended.id);
     const running = await registry.start('echo up; sleep ${mark()}');
     await registry.wait(running.id, { pattern: 'up' });
     say([running, ended]);
     const { existsSync, readFileSync } = await import('node:fs');
     const parent = (pid) => Number(readFileSync(\`/proc/\${pid}/stat\`, 'utf8').split(') ')[1].split(' ')[1]);
     setInterval(async () => {
       if (!existsSync('${dir}/go')) return;
       await registry.close();
       const shim = parent(running.pid);
       for (const pid of [parent(shim), shim]) process.kill(pid, 'SIGKILL');
       process.reallyExit(0);
     }, 20);`,
    container,
  );
}

describe('a task of another container', () => {
  inContainers('is read from a second container, and never ended or swept', async () => {
    const dir = tasksFolder();
    const [running, over] = await said<BackgroundTask[]>(owner(dir));
    if (!running || !over) throw new Error('no tasks');
    const other = tasksHost(
      { dir, maxTasks: 1 },
      `const id = '${running.id}';
       const refused = await registry.kill(id).catch(({ code, message }) => [code, message]);
       const { output, task } = await registry.check(id);
       const all = await registry.killAll();
       const waited = await registry.wait(id, { timeoutMs: 300 });
       const own = await registry.start('exit 5');
       const { task: end } = await registry.wait(own.id);
       await new BackgroundRegistry({ dir: ${JSON.stringify(dir)}, retentionMs: 1 }).close();
       say({ refused, output, state: task.state, all, waited: waited.task.state, own: end.exitCode, notes: registry.notes });`,
      container,
    );
    const seen = await said<Record<string, unknown>>(other);
    expect(seen).toMatchObject({ output: 'up\n', state: 'running', all: [], waited: 'running', own: 5 });
    expect(seen.refused).toEqual([
      'ERR_BASH_UNSUPPORTED',
      expect.stringMatching(
        /^task t\w+ runs elsewhere, on another machine or in another container .*: it can be ended only there$/,
      ),
    ]);
    expect(seen.notes).toEqual([expect.stringMatching(`^task ${running.id}: it runs elsewhere, `)]);
    expect(logOf(running)).toBe('up\n');
    expect(logOf(over)).toBe('over\n[background process completed]\n');
  });

  inContainers('goes on as it was for the container itself, and has no end once that is gone', async () => {
    const dir = tasksFolder();
    const one = owner(dir);
    const [running] = await said<BackgroundTask[]>(one);
    if (!running) throw new Error('no task');
    const here = registry({ dir });
    expect(
      here
        .list()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['exited', 'running']);
    await here.close();
    open(dir);
    await one.ended();
    const again = registry({ dir });
    expect(again.list().find(({ id }) => id === running.id)).toMatchObject({ state: 'running', endedAt: null });
    expect((await rejection(() => again.kill(running.id))).code).toBe('ERR_BASH_UNSUPPORTED');
    expect(logOf(running)).toBe('up\n');
  });
});

/** Rewrites the state file of a task whose helpers were killed. */
async function left(dir: string, change: (state: Record<string, unknown>) => void): Promise<BackgroundTask> {
  const { task } = await hostOfSleeper(dir);
  const path = stateFile(task);
  const state = JSON.parse(readFileSync(path, 'utf8'));
  change(state);
  writeFileSync(path, JSON.stringify(state));
  return task;
}

describe('a task of another machine that shares the directory', () => {
  linuxTest('is left as it is, and its processes here are not touched', async () => {
    const dir = tasksFolder();
    const task = await left(dir, (state) => {
      state.boot = '00000000-0000-4000-8000-000000000000';
      state.hostName = 'another-machine';
    });
    const tasks = registry({ dir, retentionMs: 1 });
    expect(tasks.list()).toMatchObject([{ id: task.id, state: 'running' }]);
    expect(tasks.notes).toEqual([expect.stringContaining('another container (another-machine); only its files')]);
    expect((await rejection(() => tasks.kill(task.id))).message).toContain('(another-machine)');
    expect(await tasks.killAll()).toEqual([]);
    expect(logOf(task)).toBe('before\n');
    kill(task.pid, 'SIGKILL');
    await until(() => logOf(task).includes('[background process killed'));
  });

  linuxTest('a state file of an earlier version, without the namespace, is ours', async () => {
    const dir = tasksFolder();
    const task = await left(dir, (state) => {
      state.namespace = undefined;
      state.hostName = undefined;
    });
    const tasks = registry({ dir });
    expect((await tasks.kill(task.id)).task).toMatchObject({ state: 'killed', signal: 'SIGTERM' });
  });
});
