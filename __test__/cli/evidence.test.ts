import { describe, expect, test } from 'vitest';
import { isLinux } from '../support/index.ts';
import { Program } from './support.ts';

describe('agent-bash run --evidence', () => {
  test.runIf(isLinux).each(['--evidence', '--evidence=status', '--evidence=tree'])(
    '%s prints the failures that the exit code hides on standard error',
    async (flag) => {
      expect(await new Program().run('run', flag, 'echo out; false | cat')).toMatchObject({
        code: 0,
        stdout: 'out\n',
        stderr: 'agent-bash: hidden failure: «false» exit code 1, behind | cat\n',
      });
    },
  );

  test('prints nothing without the option, and nothing without a hidden failure', async () => {
    const nothing = { code: 0, stdout: '', stderr: '' };
    expect(await new Program().run('run', 'false | cat')).toMatchObject(nothing);
    expect(await new Program().run('run', '--evidence', 'true')).toMatchObject(nothing);
  });

  test.each([
    [['--evidence=off'], 'It must be status or tree.'],
    [['--evidence=all'], 'It must be status or tree.'],
    [['--strict', '-b'], '--strict is for a command in the foreground'],
    [['--evidence', '-b'], '--evidence is for a command in the foreground'],
    [['--evidence=tree', '--background'], '--evidence is for a command in the foreground'],
  ])('%j is refused, and nothing runs', async (flags, message) => {
    const { code, stdout, stderr } = await new Program().run('run', ...flags, 'echo started');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^agent-bash: /);
    expect(stderr).toContain(message);
  });
});

describe.runIf(isLinux)('agent-bash run --strict', () => {
  test.each([
    ['a hidden failure', 'sh -c "exit 3" | cat', 3, 'hidden failure: «sh -c "exit 3"» exit code 3, behind | cat'],
    [
      'the first of several',
      'sh -c "exit 4" | cat; (exit 5); :',
      4,
      'hidden failure: «(exit 5)» exit code 5, behind ; :',
    ],
    ['a signal', `sh -c 'kill -9 $$' | cat`, 137, `hidden failure: «sh -c 'kill -9 $$'» killed: SIGKILL, behind | cat`],
    [
      'a program behind ||',
      'sh -c "exit 3" || /bin/true',
      1,
      'unproven: The exit code 3 of «sh -c "exit 3"» is hidden',
    ],
    ['an end that is not known', '(trap "" HUP; sleep 2) &', 1, 'unproven: The end of «(trap "" HUP; sleep 2)» is not'],
    ['a part without a place', `eval '/bin/false; :'`, 1, 'unproven: Not every part of the command is known.'],
    ['its own exit code', 'false | cat; exit 7', 7, 'hidden failure: «false» exit code 1, behind | cat'],
    ['no failure', 'true | cat', 0, ''],
  ])('exits with the code of %s', async (_, command, code, line) => {
    const ended = await new Program().run('run', '--strict', command);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(line);
    if (line === '') expect(ended.stderr).toBe('');
  });

  test('has the exit code with --json, too, and the evidence', async () => {
    const { code, stdout } = await new Program().run('run', '--json', '--strict', '--evidence=tree', 'false | cat');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, evidence: { verdict: 'failed' } });
  });
});
