import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackgroundCheck, BackgroundTask } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { folder, host, mark, seq, sleepers, until } from '../../../support/index.ts';

const ESCAPE = '\u001b';

async function start(program: Program, command: string, ...options: string[]): Promise<BackgroundTask> {
  return program.json<BackgroundTask>('run', '--background', ...options, command);
}

/** Starts a command and waits for its end. */
async function ended(program: Program, command: string): Promise<BackgroundTask> {
  const task = await start(program, command);
  await program.run('logs', '-f', task.id);
  return task;
}

describe('ps', () => {
  test('is a table, those that run first and the newest before the others', async () => {
    const program = new Program();
    const done = await ended(program, 'true');
    const failed = await ended(program, 'exit 3');
    const running = await start(program, 'sleep 60 # with\n\u001b[31mtwo lines');
    const { code, stdout, stderr } = await program.run('ps');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows).toEqual([
      ['PID', 'STATE', 'STARTED', 'TIME', 'ID', 'DIRECTORY', 'COMMAND'],
      [
        String(running.pid),
        'running',
        expect.stringMatching(/^\d+ s ago$/),
        expect.stringMatching(/^\d+ s$/),
        running.id,
        expect.stringMatching(/^[~/]/),
        'sleep 60 # with two lines',
      ],
      [String(failed.pid), 'exited 3', expect.any(String), '0 s', failed.id, expect.any(String), 'exit 3'],
      [String(done.pid), 'exited 0', expect.any(String), '0 s', done.id, expect.any(String), 'true'],
    ]);
    const only = await program.json<BackgroundTask[]>('ps', '--running');
    expect(only.map(({ id }) => id)).toEqual([running.id]);
  });

  test('--json is an array', async () => {
    const program = new Program();
    expect(await program.json('ps')).toEqual([]);
    const { id } = await ended(program, 'exit 3');
    expect(await program.json('ps')).toMatchObject([{ id, state: 'exited', exitCode: 3, command: 'exit 3' }]);
  });

  test('says so when there is nothing', async () => {
    expect(await new Program().run('ps')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'agent-bash: there are no background tasks\n',
    });
  });

  test('is coloured only where that is wanted', async () => {
    for (const [env, coloured] of [
      [{}, false],
      [{ FORCE_COLOR: '1' }, true],
      [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    ] as const) {
      const program = new Program(env);
      await ended(program, 'true');
      expect((await program.run('ps')).stdout.includes(ESCAPE)).toBe(coloured);
    }
  });

  test('a missing directory is not created', async () => {
    const dir = join(folder(), 'nowhere');
    for (const args of [['ps'], ['logs', '1'], ['kill', '1']]) {
      expect(await new Program().run(...args, '--dir', dir)).toMatchObject({
        code: 1,
        stderr: `agent-bash: there is no directory ${dir}\n`,
      });
    }
    expect(existsSync(dir)).toBe(false);
  });
});

describe('logs', () => {
  test('prints the log as it is, by pid, by id, and of the newest task', async () => {
    const program = new Program();
    const { id, pid, logPath } = await ended(program, 'echo out; echo err >&2; printf é; exit 3');
    for (const names of [[id], [String(pid)], []]) {
      const { code, stdout, stderr } = await program.run('logs', ...names);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toBe(readFileSync(logPath, 'utf8'));
      expect(stdout).toMatch(/out\n(.*\n)*\[background process failed: exit code 3\]\n$/);
    }
  });

  test.each([
    [0, ''],
    [1, '[background process completed]\n'],
    [3, '49999\n50000\n[background process completed]\n'],
    [20_000, `${seq(30_002, 50_000)}[background process completed]\n`],
    [1_000_000, `${seq(1, 50_000)}[background process completed]\n`],
  ])('-n %d', async (lines, text) => {
    const program = new Program();
    const { id } = await ended(program, 'seq 50000');
    expect((await program.run('logs', id, '-n', String(lines))).stdout).toBe(text);
  });

  test('--json prints the task and the text', async () => {
    const program = new Program();
    const { id } = await ended(program, 'echo a; echo b');
    expect(await program.json('logs', id, '-n', '2')).toMatchObject({
      task: { id, state: 'exited' },
      output: 'b\n[background process completed]\n',
    });
  });

  test('-f shows new output, and ends with the task', async () => {
    const program = new Program();
    const place = folder();
    const { pid } = await start(program, 'mkfifo fifo; echo one; read x <fifo; echo two', '--cwd', place);
    const run = program.start(['logs', '-f', String(pid)]);
    await run.says(/^one\n$/);
    appendFileSync(join(place, 'fifo'), '\n');
    expect(await run.ended).toMatchObject({
      code: 0,
      stdout: 'one\ntwo\n[background process completed]\n',
      stderr: '',
    });
  });

  test('-f --json is a line for each piece, and the task last', async () => {
    const program = new Program();
    const { id } = await start(program, 'echo one; sleep .3; echo zwölf; exit 3');
    const { stdout } = await program.run('logs', '-f', id, '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const text = lines
      .slice(0, -1)
      .map(({ output }) => output)
      .join('');
    expect(text).toBe('one\nzwölf\n[background process failed: exit code 3]\n');
    expect(lines.at(-1)).toMatchObject({ task: { id, state: 'exited', exitCode: 3 } });
  });

  test('-f whose reader goes away ends; the task goes on', async () => {
    const program = new Program();
    const { id } = await start(program, 'while sleep .05; do echo more; done');
    const run = program.start(['logs', '-f', id]);
    await run.says(/more/);
    run.child.stdout?.destroy();
    expect(await run.ended).toMatchObject({ code: 141, stderr: '' });
    expect(await program.json('ps', '--running')).toMatchObject([{ id }]);
  });

  test('of a task that is not there', async () => {
    expect(await new Program().run('logs', 'nonsense')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'agent-bash: there is no task "nonsense": `agent-bash ps` lists the tasks\n',
    });
  });
});

test('tasks of an agent that was killed are there: listed, followed, ended', async () => {
  const program = new Program();
  const agent = host(
    `const { background } = await bash('echo up; sleep 60', { mode: 'background' });
     const moved = await bash('echo before; sleep 60', { onTimeout: 'background', timeoutMs: 1_500 });
     console.log('ready', background.pid, moved.background.pid);
     setInterval(() => {}, 1000);`,
    { env: { XDG_STATE_HOME: program.state } },
  );
  const [, first = '', second = ''] = await agent.says(/ready (\d+) (\d+)/);
  agent.process.kill('SIGKILL');
  await agent.ended();
  const tasks = await program.json<BackgroundTask[]>('ps', '--running');
  expect(tasks.map(({ pid }) => String(pid)).sort()).toEqual([first, second].sort());
  const run = program.start(['logs', '-f', second]);
  await run.says(/^before\n$/);
  expect((await program.run('kill', first, second)).stdout).toBe(
    `${first}  killed SIGTERM\n${second}  killed SIGTERM\n`,
  );
  expect((await run.ended).stdout).toBe('before\n[background process killed: SIGTERM]\n');
});

describe('kill', () => {
  test('ends tasks and all they started', async () => {
    const program = new Program();
    const seconds = mark();
    const one = await start(program, `setsid sleep ${seconds} & wait`);
    const two = await start(program, `sleep ${seconds}`);
    await until(() => sleepers(seconds).length === 2);
    const { code, stdout, stderr } = await program.run('kill', String(one.pid), two.id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`${one.pid}  killed SIGTERM\n${two.pid}  killed SIGTERM\n`);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('--json prints the check with the last output', async () => {
    const program = new Program();
    const { id } = await start(program, `trap 'echo bye; exit' TERM; echo up; sleep 60 & wait`);
    const run = program.start(['logs', '-f', id]);
    await run.says(/up/);
    const check = await program.json<BackgroundCheck>('kill', id);
    expect(check).toMatchObject({ task: { id, state: 'killed' }, output: 'up\nbye\n' });
    await run.ended;
  });

  test('of an ended one, and of a missing one, among others', async () => {
    const program = new Program();
    const done = await ended(program, 'exit 3');
    const running = await start(program, 'sleep 60');
    const { code, stdout, stderr } = await program.run('kill', done.id, 'nonsense', running.id);
    expect(code).toBe(1);
    expect(stdout).toBe(`${done.pid}  exited 3 (it had ended before)\n${running.pid}  killed SIGTERM\n`);
    expect(stderr).toContain('there is no task "nonsense"');
  });
});
