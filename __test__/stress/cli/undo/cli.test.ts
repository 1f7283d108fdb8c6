import type { BackgroundTask, BashResult, UndoPoint } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { folder, linuxTest, mark, until } from '../../../support/index.ts';
import { Site } from '../../../undo/support.ts';

describe('agent-bash undo', () => {
  test('--list of an empty store says so, and is an empty array for programs', async () => {
    const program = new Program();
    const { code, stdout, stderr } = await program.run('undo', '--list');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('agent-bash: there is nothing to undo in this directory: --all lists every run\n');
    expect(await program.json('undo', '--list')).toEqual([]);
    expect(await program.json('undo', '--list', '--all', '--store', folder())).toEqual([]);
  });

  test('without a run, and with nothing to undo, fails with a way on', async () => {
    const { code, stderr } = await new Program().run('undo');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'there is nothing to undo in this directory: agent-bash undo --list --all lists every run',
    );
  });

  test('of an unknown run fails with the reason, also for programs', async () => {
    const program = new Program();
    const reason = 'nothing was undone: there is no undo point of run no-such-run';
    expect(await program.run('undo', 'no-such-run')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `agent-bash: ${reason}\n`,
    });
    const { code, stdout } = await program.run('undo', 'no-such-run', '--dry-run', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ error: reason, code: 'ERR_BASH_UNDO' });
  });

  test.each([
    [['--list', 'run-1'], '--list takes no run, --path or --dry-run'],
    [['--list', '--dry-run'], '--list takes no run, --path or --dry-run'],
    [['a', 'b'], 'too many arguments'],
    [['a', '--path', ''], '--path takes no empty path'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await new Program().run('undo', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('agent-bash run', () => {
  test.each([
    ['--receipt=all', 'It must be watch or exact'],
    ['--undo=never', 'It must be risky or always'],
  ])('%s is refused', async (flag, message) => {
    const { code, stderr } = await new Program().run('run', flag, 'true');
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });
});

describe('with real commands', () => {
  linuxTest('run --undo says what changed and how to undo it, and undo goes back run by run', async () => {
    const program = new Program();
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name);
    const before = site.tree();
    const here = (...args: string[]) => program.start(args, undefined, site.cwd).ended;
    const first = await here('run', '--undo', 'rm a');
    expect(first.stderr).toMatch(/^agent-bash: changed: 1 deleted \(a\)\nagent-bash: undo: agent-bash undo \S+\n$/);
    await here('run', '--undo=risky', '--receipt', '--', 'rm b');
    const list = await here('undo', '--list');
    expect(list.stdout).toMatch(
      /^RUN +STARTED +COVERS +COMMAND\n\S+ +\d+ s ago +all +rm b\n\S+ +\d+ s ago +all +rm a\n$/,
    );
    const dry = await here('undo', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: `would restore  ${site.path('b')}\n` });
    const undone = await here('undo');
    expect(undone.stdout).toMatch(new RegExp(`^restored  ${site.path('b')}\nto undo this: agent-bash undo \\S+\n$`));
    expect((await here('undo', '--json')).code).toBe(0);
    expect(site.tree()).toEqual(before);
    expect(await here('undo')).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to undo') });
  });

  linuxTest('goes past runs that changed nothing, and only to those with an effect at the paths', async () => {
    const program = new Program();
    const site = new Site();
    for (const name of ['a', 'b']) site.write(name);
    const here = (...args: string[]) => program.start(args, undefined, site.cwd).ended;
    for (const command of ['rm a', 'rm b']) await here('run', '--undo', command);
    // Nothing changed, so no line names a way back.
    expect((await here('run', '--undo', 'ls')).stderr).toBe('agent-bash: changed: nothing\n');
    expect((await here('undo', '--path', 'a')).stdout).toMatch(/^restored {2}\S+\/a\n/);
    expect((await here('undo')).stdout).toMatch(/^restored {2}\S+\/b\n/);
    const nothing = await here(
      'undo',
      (await program.json<UndoPoint[]>('undo', '--list', '--all'))[0]?.runId ?? '',
      '--path',
      'c',
    );
    expect(nothing.stdout).toBe('nothing to undo: all is as before the run at these paths\n');
  });

  linuxTest('a conflict is named, and fails', async () => {
    const program = new Program();
    const site = new Site();
    site.write('a', 'before');
    const { runId } = await program.json<BashResult>('run', '--undo', '--cwd', site.cwd, 'echo x > a');
    site.write('a', 'mine');
    const { code, stdout } = await program.run('undo', runId, '--path', site.cwd);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^conflict  ${site.path('a')}: .*; what was there before is kept at `));
    expect(site.read('a')).toBe('mine');
  });

  linuxTest('kill says what a task has changed', async () => {
    const program = new Program();
    const site = new Site();
    const command = `echo x > a; echo written; sleep ${mark()}`;
    const { id } = await program.json<BackgroundTask>('run', '-b', '--undo', '--cwd', site.cwd, command);
    await until(async () => (await program.run('logs', id)).stdout.includes('written'), 'the task has written');
    const { stderr } = await program.run('kill', id);
    expect(stderr).toMatch(/changed: 1 created \(a\)\n(?:.*ports.*\n)?agent-bash: undo: agent-bash undo \S+\n/);
  });
});
