import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { type BackgroundTask, type BashResult, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { PROGRAM, Program } from '../../../cli/support.ts';
import { alive, folder, mark, sleepers, until } from '../../../support/index.ts';

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
    expect(stderr).toMatch(
      /^agent-bash: permission denied: git push --force is not allowed\. .*\nagent-bash: instead: .*\n$/,
    );
    expect(await new Program().run('run', '--background', 'git add -A')).toMatchObject({ code: 125, stdout: '' });
  });

  test('passes its standard input to the command with --stdin, all of it and only then', async () => {
    const program = new Program();
    const { input, file } = { input: 'x\n'.repeat(100_000), file: join(folder(), 'input') };
    writeFileSync(file, input);
    const piped = (args: string) =>
      spawnSync('bash', ['-c', `cat "$1" | "$2" "$3" ${args}`, 'bash', file, process.execPath, PROGRAM], {
        encoding: 'utf8',
        env: { ...process.env, XDG_STATE_HOME: program.state },
      });
    expect(piped("run --stdin 'wc -c'")).toMatchObject({ status: 0, stdout: '200000\n', stderr: '' });
    expect(JSON.parse(piped("run --stdin --json 'wc -c'").stdout)).toMatchObject({ stdout: '200000\n' });
    expect(piped("run 'wc -c'")).toMatchObject({
      status: 0,
      stdout: '0\n',
      stderr: 'agent-bash: standard input was not passed to the command: add --stdin\n',
    });
  });

  test.each([
    ['a file', (file: string) => openSync(file, 'r'), /add --stdin/],
    ['an empty file', () => openSync(join(folder(), 'empty'), 'w+'), /^$/],
    ['/dev/null', () => openSync(devNull, 'r'), /^$/],
  ])('names --stdin where standard input has data: %s', async (_, open, stderr) => {
    const file = join(folder(), 'input');
    writeFileSync(file, 'x');
    const input = open(file);
    const run = new Program().start(['run', 'cat'], [input, 'pipe', 'pipe']);
    closeSync(input);
    expect(await run.ended).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  test('a task gets standard input, too', async () => {
    const program = new Program();
    const file = join(folder(), 'input');
    writeFileSync(file, 'from a file');
    const input = openSync(file, 'r');
    const run = program.start(['run', '-b', '--stdin', '--json', 'cat'], [input, 'pipe', 'pipe']);
    closeSync(input);
    const { id } = JSON.parse((await run.ended).stdout) as BackgroundTask;
    expect((await program.run('logs', id, '-f')).stdout).toContain('from a file');
  });

  test('- is not a command', async () => {
    const { code, stderr } = await new Program().run('run', '-');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^agent-bash: .*did you mean --stdin/) });
  });

  test.each([[['nonsense']], [['run']], [['run', 'true', '--timeout', 'soon']], [['ps', '--nonsense']]])(
    '%j: an error of the arguments begins as all others do',
    async (args: string[]) => {
      const { code, stderr } = await new Program().run(...args);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^agent-bash: /) });
      expect(stderr).not.toContain('error:');
    },
  );

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
    [['completion', 'csh'], '"csh" is not one of bash, zsh, fish'],
    [['logs', 'x', '-n', 'all'], 'It must be a whole number.'],
    [['kill'], "missing required argument 'id'"],
    [['ps', 'x'], 'too many arguments'],
  ])('%j is refused with a reason', async (args, reason) => {
    const { code, stdout, stderr } = await new Program().run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  test.each([['--help'], ['run', '--help'], ['--version'], ['-v'], ['-V'], ['version']])('%s %s', async (...args) => {
    const { code, stdout, stderr } = await new Program().run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Usage: agent-bash|^\d+\.\d+\.\d+/);
  });
});

test('completion prints a script by which bash completes commands, options and tasks', async () => {
  const { stdout } = await new Program().run('completion', 'bash');
  const completed = async (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(agent-bash ${line}); COMP_CWORD=${words.length}; _agent_bash; echo "\${COMPREPLY[@]}"`;
    return (await bash(`agent-bash() { printf 'PID  STATE\n123  running\n'; }\n${stdout}\n${ask}`)).stdout.trim();
  };
  expect(await completed('do')).toBe('doctor');
  expect(await completed('run', '--idle')).toBe('--idle-timeout');
  expect(await completed('logs', '12')).toBe('123');
  expect(await completed('logs', '--f')).toBe('--follow');
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

describe('run --reduce', () => {
  const build =
    'for n in {1..2000}; do echo "compiled module $n in $((n * n * 31 % 997)) ms"; done; echo "a.c:3:5: error: no such" >&2';

  test('without it, the output is what the command wrote', async () => {
    const { stdout } = await new Program().run('run', 'yes waiting | head -n 300');
    expect(stdout).toBe('waiting\n'.repeat(300));
  });

  test('lossless folds repeats', async () => {
    const { code, stdout, stderr } = await new Program().run(
      'run',
      '--reduce',
      'lossless',
      'yes waiting | head -n 300',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'waiting\n[x300]\n', stderr: '' });
  });

  test('salient keeps within the budget, and the whole stays after the program', async () => {
    const temporary = folder();
    const program = new Program({ TMPDIR: temporary });
    const { code, stdout } = await program.run(
      'run',
      '--reduce',
      'salient',
      '--budget-tokens',
      '100',
      `${build}; exit 3`,
    );
    expect(code).toBe(3);
    expect(stdout.length).toBeLessThan(4_000);
    expect(stdout).toContain('a.c:3:5: error: no such');
    const [, path = ''] = /^\[2,001 lines whole in (\/.+)\]$/m.exec(stdout) ?? [];
    expect(path.startsWith(temporary)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect([lines.length, lines[0], lines[2_000]]).toEqual([
      2_001,
      'compiled module 1 in 31 ms',
      'a.c:3:5: error: no such',
    ]);
  });

  test('a budget alone asks for salient', async () => {
    const program = new Program({ TMPDIR: folder() });
    const { stdout } = await program.run('run', '--budget-tokens', '100', build);
    expect(stdout).toMatch(/^\[2,001 lines whole in /m);
  });

  test('whole outputs of a week ago go with the next run', async () => {
    const temporary = folder();
    const [old, young, other] = ['whole-1', 'whole-2', 'elsewhere'].map((name) =>
      join(temporary, `agent-bash-${name}`),
    );
    for (const path of [old, young, other] as string[]) mkdirSync(path);
    const past = Date.now() / 1_000 - 8 * 86_400;
    for (const path of [old, other] as string[]) utimesSync(path, past, past);
    await new Program({ TMPDIR: temporary }).run('run', '--reduce', 'salient', 'true');
    expect(
      readdirSync(temporary)
        .filter((name) => !/^agent-bash-\d+$/.test(name))
        .sort(),
    ).toEqual(['agent-bash-elsewhere', 'agent-bash-whole-2']);
  });

  test('without a temporary directory nothing is left out', async () => {
    const program = new Program({ TMPDIR: devNull });
    const { code, stdout, stderr } = await program.run('run', '--budget-tokens', '100', 'seq 3000 | shuf -n 3000');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(/^1500$/m), stderr: '' });
  });

  test('output that gains nothing goes to its streams, with the exit code', async () => {
    const { code, stdout, stderr } = await new Program().run(
      'run',
      '--reduce',
      'salient',
      'echo out; echo err >&2; exit 7',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' });
  });

  test('--json has the view beside the whole output', async () => {
    const { stdout } = await new Program().run('run', '--reduce', 'lossless', '--json', 'yes waiting | head -n 300');
    const result = JSON.parse(stdout) as BashResult;
    expect(result.view).toMatchObject({ text: 'waiting\n[x300]\n', class: 'green', elided: [], id: 0, path: null });
    expect(result.stdout).toBe('waiting\n'.repeat(300));
  });

  test.each([
    [['--reduce', 'much'], 'It must be off, lossless or salient.'],
    [['--budget-tokens', '0'], 'It must be a whole number of at least 1.'],
    [['--reduce', 'lossless', '--budget-tokens', '9'], '--budget-tokens is for --reduce salient, not lossless'],
    [['--reduce', 'salient', '-b'], '--reduce is for a command in the foreground'],
  ])('%j is refused with a reason', async (flags, reason) => {
    const { code, stdout, stderr } = await new Program().run('run', ...flags, 'true');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });
});
