import { readdirSync, realpathSync } from 'node:fs';
import { devNull } from 'node:os';
import type { BackgroundTask, BashResult } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { alive, folder, mark, sleepers, until } from '../support/index.ts';
import { Program } from './support.ts';

describe('run', () => {
  test('passes both streams and the exit code through, and nothing more', async () => {
    const program = new Program();
    expect(await program.run('run', 'echo out; echo err >&2; exit 7')).toMatchObject({
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(readdirSync(program.state)).toEqual([]);
  });

  test('shows output while it comes, unfinished lines too', async () => {
    const run = new Program().start(['run', `printf 'how many? '; read -t 5 <> <(:); sleep ${mark()}`]);
    await run.says(/how many\? /);
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
  });

  test('loses nothing of much output, with any reader', async () => {
    const { stdout } = await new Program().run('run', 'seq 300000');
    expect(stdout.length).toBe(1_988_895);
    expect(stdout.endsWith('\n300000\n')).toBe(true);
  });

  test.each([
    [['exit 300'], 44, ''],
    [['kill -9 $$'], 137, 'agent-bash: killed by SIGKILL\n'],
    [['sleep 60', '--timeout', '200ms'], 124, 'agent-bash: timed out after 0.2 s\n'],
    [
      ['sleep 60', '--idle-timeout', '300ms'],
      124,
      'agent-bash: timed out after 0.3 s\nagent-bash: silence: the command wrote nothing for 0.3 s (idleTimeoutMs), which counts as its time limit\n',
    ],
    [['true', '--cwd', '/nowhere'], 125, 'agent-bash: Working directory does not exist: /nowhere\n'],
  ])('%j ends with %d', async (args, code, stderr) => {
    expect(await new Program().run('run', ...args)).toMatchObject({ code, stdout: '', stderr });
  });

  test('refuses what the safety engine denies, and says why', async () => {
    const { code, stdout, stderr } = await new Program().run('run', 'echo started; git push --force');
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(/^agent-bash: permission denied: git push --force is not allowed\. .*\n$/);
    expect(await new Program().run('run', '--background', 'git add -A')).toMatchObject({ code: 125, stdout: '' });
  });

  test('takes a directory', async () => {
    const cwd = folder();
    expect((await new Program().run('run', 'pwd -P', '--cwd', cwd)).stdout).toBe(`${realpathSync(cwd)}\n`);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s the whole tree is ended, with its last words', async (signal, code) => {
    const seconds = mark();
    const command = `trap 'echo bye; exit' TERM; setsid sleep ${seconds} & echo up; wait`;
    const run = new Program().start(['run', command]);
    await run.says(/up/);
    await until(() => sleepers(seconds).length === 1);
    run.child.kill(signal);
    expect(await run.ended).toMatchObject({ code, stdout: 'up\nbye\n' });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('a second Ctrl-C does not wait', async () => {
    const seconds = mark();
    const run = new Program().start(['run', `trap '' TERM; echo up; while :; do sleep ${seconds}; done`]);
    await run.says(/up/);
    run.child.kill('SIGINT');
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130 });
    await until(() => sleepers(seconds).length === 0);
  });

  test('a reader that goes away ends the command', async () => {
    const seconds = mark();
    const run = new Program().start(['run', `echo up; while sleep .05; do echo more; done & sleep ${seconds}`]);
    await run.says(/up/);
    run.child.stdout?.destroy();
    expect(await run.ended).toMatchObject({ code: 141, stderr: '' });
    await until(() => sleepers(seconds).length === 0);
  });

  test('--json prints the result when it is there', async () => {
    const { code, stdout, stderr } = await new Program().run('run', 'echo out; echo err >&2; exit 3', '--json');
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    const result = JSON.parse(stdout) as BashResult;
    expect(result).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, status: 'exited' });
  });

  test.each([
    [['run'], "missing required argument 'command'"],
    [['run', 'npm', 'test'], "agent-bash run 'npm test'"],
    [['run', 'true', '--timeout', 'soon'], 'It must be a time such as'],
    [['run', 'true', '--timeout', '25h'], 'at most 24h'],
    [['run', 'true', '--nonsense'], '--nonsense'],
    [['nonsense'], "unknown command 'nonsense'"],
    [['logs'], "missing required argument 'id'"],
    [['logs', 'x', '-n', 'all'], 'It must be a whole number.'],
    [['kill'], "missing required argument 'id'"],
    [['ps', 'x'], 'too many arguments'],
  ])('%j is refused with a reason', async (args, reason) => {
    const { code, stdout, stderr } = await new Program().run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  test.each([['--help'], ['run', '--help'], ['--version']])('%s %s', async (...args) => {
    const { code, stdout, stderr } = await new Program().run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Usage: agent-bash|^\d+\.\d+\.\d+/);
  });
});

describe('run --background', () => {
  test('returns at once; the task goes on and ends by itself', async () => {
    const program = new Program();
    const seconds = mark();
    const { code, stdout, stderr } = await program.run('run', '-b', `echo up; sleep ${seconds}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const pid = Number(/^started (\d+)$/m.exec(stdout)?.[1]);
    expect(stdout).toMatch(/^output: \/.*\.log$/m);
    expect(stdout).toContain(`agent-bash logs -f ${pid}\n`);
    expect(stdout).toContain(`agent-bash kill ${pid}\n`);
    expect(alive(pid)).toBe(true);
    expect(await program.run('kill', String(pid))).toMatchObject({ code: 0 });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('--json prints the task; --dir is made', async () => {
    const program = new Program();
    const dir = `${folder()}/new folder`;
    const task = await program.json<BackgroundTask>('run', '--background', 'exit 3', '--dir', dir);
    expect(task).toMatchObject({ command: 'exit 3', state: 'running' });
    await program.run('logs', '-f', task.id, '--dir', dir);
    expect(await program.json('ps', '--dir', dir)).toMatchObject([{ id: task.id, state: 'exited', exitCode: 3 }]);
    expect(readdirSync(program.state)).toEqual([]);
    const { stdout } = await program.run('run', '-b', 'true', '--dir', dir);
    expect(stdout).toContain(`--dir '${dir}'\n`);
  });

  test('is limited by --timeout, and starts in --cwd', async () => {
    const program = new Program();
    const cwd = realpathSync(folder());
    const { id } = await program.json<BackgroundTask>('run', '-b', 'sleep 60', '--timeout', '300ms', '--cwd', cwd);
    await program.run('logs', '-f', id);
    expect(await program.json('ps')).toMatchObject([{ state: 'killed', exitCode: 124, cwd }]);
  });

  test('that cannot start ends with 125', async () => {
    const program = new Program();
    expect(await program.run('run', '-b', 'true', '--cwd', '/nowhere')).toMatchObject({ code: 125, stdout: '' });
    expect(await program.run('run', '-b', 'true', '--dir', `${devNull}/x`)).toMatchObject({ code: 125, stdout: '' });
  });
});
