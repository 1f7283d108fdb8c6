import { describe, expect, test } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { folder } from '../../../support/index.ts';

describe('errors with --json', () => {
  test.each([
    [['run', '--json'], 2, 'ERR_BASH_INVALID_ARG', /missing required argument 'command'/],
    [['run', 'true', '--timeout', 'soon', '--json'], 2, 'ERR_BASH_INVALID_ARG', /must be a time/],
    [['nonsense', '--json'], 2, 'ERR_BASH_INVALID_ARG', /nonsense/],
    [['check', '--json'], 125, 'ERR_BASH_INVALID_ARG', /no command to check/],
    [['check', 'true', '--json', '--nonsense'], 125, 'ERR_BASH_INVALID_ARG', /--nonsense/],
    [['check', 'true', '--json', '--rule', 'nonsense=off'], 125, 'ERR_BASH_INVALID_ARG', /no rule "nonsense"/],
    [['run', 'true', '--cwd', '/nowhere', '--json'], 125, 'ERR_BASH_CWD_NOT_FOUND', /\/nowhere/],
    [['run', '-b', 'true', '--dir', '/dev/null/x', '--json'], 125, expect.any(String), /\/dev\/null/],
    [['ps', '--dir', '/nowhere', '--json'], 1, 'ERR_BASH_CWD_NOT_FOUND', /there is no directory/],
    [['logs', 'nonsense', '--json'], 1, 'ERR_BASH_UNKNOWN_TASK', /there is no task "nonsense"/],
    [['kill', 'nonsense', '--json'], 1, 'ERR_BASH_UNKNOWN_TASK', /there is no task "nonsense"/],
    [['doctor', 'x', '--json'], 2, 'ERR_BASH_INVALID_ARG', /too many arguments/],
  ])('%j is a line with a code, and nothing else', async (args, exitCode, code, error) => {
    const { code: ended, stdout, stderr } = await new Program().run(...args);
    expect({ ended, stderr }).toEqual({ ended: exitCode, stderr: '' });
    expect(stdout).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(stdout)).toEqual({ error: expect.stringMatching(error), code });
  });

  test('a refusal has its findings', async () => {
    const { code, stdout } = await new Program().run('run', 'git add -A', '--json');
    expect(code).toBe(125);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'ERR_BASH_BLOCKED', findings: [{ ruleId: 'git-blind-add' }] });
  });

  test('of several tasks each has its line, in their order', async () => {
    const program = new Program();
    const { id } = await program.json<{ id: string }>('run', '-b', 'sleep 60');
    const { code, stdout } = await program.run('kill', 'first', id, 'last', '--json');
    expect(code).toBe(1);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { code: 'ERR_BASH_UNKNOWN_TASK' },
      { task: { id, state: 'killed' } },
      { code: 'ERR_BASH_UNKNOWN_TASK' },
    ]);
  });

  test('a command that is called --json does not count', async () => {
    const ended = await new Program().run('run', '--cwd', '/nowhere', '--', '--json');
    expect(ended).toMatchObject({ code: 125, stdout: '', stderr: expect.stringContaining('/nowhere') });
  });
});

describe('the help', () => {
  const commands = ['ps', 'logs', 'kill', 'run', 'log', 'ui', 'undo', 'check', 'mcp', 'doctor', 'uninstall'];

  test('names every command', async () => {
    const { stdout } = await new Program().run('--help');
    expect([...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map((match) => match[1])).toEqual(commands);
  });

  test.each(commands)('of %s has examples with options that there are', async (command) => {
    const { code, stdout } = await new Program().run(command, '--help');
    expect(code).toBe(0);
    const [options = '', examples = ''] = stdout.split('\nExamples:\n');
    const lines = examples.split('\n').filter((line) => /^ {2}\S/.test(line));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('\n')).toContain(`agent-bash ${command}`);
    for (const line of lines.filter((one) => one.trim().split(' ')[1] === command)) {
      for (const [option] of line.replaceAll(/'[^']*'/g, '').matchAll(/(?<= )--?[a-z][\w-]*/g)) {
        expect(options, `${option} of ${line}`).toMatch(new RegExp(`(^|[ ,])${option}[ ,]`, 'm'));
      }
    }
  });

  test('the examples that can be run by themselves run', async () => {
    const program = new Program();
    const cwd = folder();
    const examples: [string[], number][] = [
      [['ps', '-r', '--json'], 0],
      [['run', '--json', 'exit 3'], 3],
      [['check', 'git push --force'], 2],
      [['check', 'npm test > out.txt', '--allow', 'npm test:*', '--allow', 'write:out.txt', '--cwd', cwd], 0],
      [['check', 'git clean -fd', '--rule', 'git-clean=off'], 0],
      [['check', '--rules'], 0],
      [['doctor', '--json'], 0],
    ];
    for (const [args, code] of examples) expect(await program.run(...args), args.join(' ')).toMatchObject({ code });
  });

  test('is without colours', async () => {
    const { stdout } = await new Program({ FORCE_COLOR: '1', NO_COLOR: '1' }).run('ps', '--help');
    expect(stdout).not.toContain('\u001b');
    expect((await new Program({ FORCE_COLOR: '1' }).run('doctor')).stdout).toContain('\u001b[32m✓');
    expect((await new Program({ FORCE_COLOR: '1', NO_COLOR: '1' }).run('doctor')).stdout).not.toContain('\u001b');
  });
});
