import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, undo } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../../support/index.ts';

const ATTACKS = (tasks: string) => [
  `echo '{}' > ${tasks}/t000000000001.json`,
  `rm ${tasks}/*.log`,
  `mkfifo ${tasks}/t000000000002.log`,
  `touch ${tasks}/running/t000000000001`,
  `mv ${tasks} ${tasks}.old`,
  `mv ${tasks}/.. gone`,
  `for file in ${tasks}/*.json; do echo '{}' > $file || exit; done`,
  `flock -n ${tasks}/lock true`,
  `rm ${tasks}/lock`,
  `python3 -c 'import socket, glob; socket.socket(socket.AF_UNIX).connect(glob.glob("${tasks}/*.sock")[0])'`,
];

describe.runIf(process.platform === 'linux')('the directory of a registry in a writable directory', () => {
  test.each(['.tasks', 'deep/er/tasks-of-mine'])('cannot be changed by confined commands: %s', async (name) => {
    const cwd = folder();
    mkdirSync(join(cwd, name), { recursive: true });
    await using session = new BashSession({ cwd, confine: 'workspace' });
    expect((await session.run('true')).exitCode).toBe(0);
    const registry = new BackgroundRegistry({ dir: join(cwd, name) });
    try {
      // Before its first task, and while one runs.
      for (const start of [false, true]) {
        if (start) await registry.start('sleep 60', { cwd, confine: 'workspace' });
        const before = readdirSync(join(cwd, name, 'tasks')).sort();
        for (const attack of ATTACKS(`${name}/tasks`)) {
          const { exitCode, stderr } = await session.run(attack);
          expect(exitCode, `${attack}: ${stderr}`).not.toBe(0);
          expect(readdirSync(join(cwd, name, 'tasks')).sort()).toEqual(before);
        }
        expect((await bash('mkdir mine && rm -r mine', { cwd, confine: 'workspace' })).exitCode).toBe(0);
      }
      expect(registry.list().map(({ state }) => state)).toEqual(['running']);
    } finally {
      await registry.killAll();
      await registry.close();
    }
  });

  test('shows its logs', async () => {
    const cwd = folder();
    const registry = new BackgroundRegistry({ dir: join(cwd, '.tasks') });
    const { id } = await registry.start('echo hi', { cwd, confine: 'workspace' });
    await registry.wait(id);
    const { stdout } = await bash(`cat .tasks/tasks/${id}.log`, { cwd, confine: 'workspace' });
    expect(stdout).toContain('hi');
    await registry.close();
  });

  test('so it is with an undo store, which is not even read', async () => {
    const [cwd, work] = [folder(), folder()];
    const dir = join(cwd, 'store');
    const { runId } = await bash('echo secret > a; true', { cwd: work, undo: { when: 'always', dir } });
    const { runId: second } = await bash('echo other > a', { cwd: work, undo: { when: 'always', dir } });
    expect(existsSync(join(dir, 'points'))).toBe(true);
    const attack = 'cat store/points/* store/files/*/*; rm -rf store; mv store other; ls store';
    const { stdout } = await bash(attack, { cwd, confine: 'workspace' });
    expect(stdout).toBe('');
    await undo(second, { dir });
    expect([runId === second, readFileSync(join(work, 'a'), 'utf8')]).toEqual([false, 'secret\n']);
  });
});
