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
    [['--evidence', '-b'], '--evidence is for a command in the foreground'],
    [['--evidence=tree', '--background'], '--evidence is for a command in the foreground'],
  ])('%j is refused, and nothing runs', async (flags, message) => {
    const { code, stdout, stderr } = await new Program().run('run', ...flags, 'echo started');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^agent-bash: /);
    expect(stderr).toContain(message);
  });
});
