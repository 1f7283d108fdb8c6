import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostEnv, isRoot, rejection } from '../support/index.ts';

const whereBash = async () => (await bash('command -v bash')).stdout.trim();

function program(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe('shell', () => {
  test('the default is the first bash on the PATH of the caller', async () => {
    const real = await whereBash();
    const bin = folder();
    program(join(bin, 'bash'), `#!${real}\necho "fake: $1"\nexec ${real} "$@"\n`);
    hostEnv({ PATH: `${bin}:${process.env.PATH}` });
    expect((await bash('echo run', { cwd: bin })).stdout).toMatch(/^fake: .*\nrun\n$/);
  });

  test('over ssh it reads no ~/.bashrc either', async () => {
    const home = folder();
    writeFileSync(join(home, '.bashrc'), 'echo read\n');
    const env = { HOME: home, SSH_CLIENT: '192.0.2.1 1 2', SHLVL: null };
    for (const warm of [false, true]) expect((await bash('echo hi', { env, warm })).stdout).toBe('hi\n');
  });

  test('that PATH is taken at the call', async () => {
    const before = process.env.PATH;
    hostEnv({ PATH: folder() });
    expect((await rejection(() => bash('echo hi'))).code).toBe('ERR_BASH_SHELL_NOT_FOUND');
    process.env.PATH = before;
    expect((await bash('echo hi')).stdout).toBe('hi\n');
  });

  test('the PATH in `env` is that of the command, not of the search', async () => {
    const { stdout } = await bash('echo "$PATH"; echo on', { env: { PATH: '/nowhere' } });
    expect(stdout).toBe('/nowhere\non\n');
  });

  test('things on the PATH that are no programs are passed over', async () => {
    const [one, two] = [folder(), folder()];
    mkdirSync(join(one, 'bash'));
    writeFileSync(join(two, 'bash'), 'not executable');
    hostEnv({ PATH: `${one}:${two}::relative:${process.env.PATH}` });
    if (!isRoot) chmodSync(join(two, 'bash'), 0o644);
    expect((await bash('echo hi')).stdout).toBe('hi\n');
  });

  test('a path', async () => {
    const cwd = folder();
    const link = join(cwd, 'my shell');
    symlinkSync(await whereBash(), link);
    expect((await bash('echo "$BASH"; echo hi', { cwd, shell: link })).stdout).toMatch(/\nhi\n$/);
  });

  test('a name on the PATH', async () => {
    const bin = folder();
    symlinkSync(await whereBash(), join(bin, 'my-bash'));
    hostEnv({ PATH: `${bin}:${process.env.PATH}` });
    expect((await bash('echo hi', { cwd: bin, shell: 'my-bash' })).stdout).toBe('hi\n');
  });

  test.each([['/nowhere/bash'], ['no-such-shell-anywhere'], ['./relative/bash']])(
    '%s: ERR_BASH_SHELL_NOT_FOUND',
    async (shell) => {
      const error = await rejection(() => bash('echo hi', { shell }));
      expect(error.code).toBe('ERR_BASH_SHELL_NOT_FOUND');
      expect(error.message).toContain(shell);
    },
  );

  test.each([['/etc/passwd'], ['/tmp']])('%s, which is no program, is an error that names it', async (shell) => {
    const error = await rejection(() => bash('echo hi', { shell }));
    expect(error.code).toMatch(/^ERR_BASH_(SHELL_NOT_FOUND|SPAWN)$/);
    expect(error.message).toContain(shell);
  });

  test('one that the kernel refuses: ERR_BASH_SPAWN with the errno and the beginning of the command', async () => {
    const cwd = folder();
    const shell = program(join(cwd, 'broken'), '\x7fELF and nothing else');
    const error = await rejection(() => bash(`echo ${'0123456789'.repeat(20)}`, { cwd, shell }));
    expect(error.code).toBe('ERR_BASH_SPAWN');
    expect(error.errno).toBe('ENOEXEC');
    expect(error.message).toContain('ENOEXEC');
    expect(error.message).toContain(`echo ${'0123456789'.repeat(20)}`.slice(0, 80));
    expect(error.message).not.toContain('0123456789'.repeat(9));
    expect((await bash('echo on')).stdout).toBe('on\n');
  });

  test('one whose interpreter is missing', async () => {
    const cwd = folder();
    const shell = program(join(cwd, 'no-interpreter'), '#!/nowhere/at/all\n');
    const error = await rejection(() => bash('echo hi', { cwd, shell }));
    expect(error.code).toBe('ERR_BASH_SPAWN');
    expect(error.errno).toBe('ENOENT');
  });

  test.each([
    ['a variable', { env: { BIG: 'x'.repeat(200_000) } }, 'the variable BIG has 200004 bytes'],
    ['an argument', { args: ['x'.repeat(200_000)] }, 'an argument has 200000 bytes'],
    [
      'all arguments',
      { args: Array<string>(40).fill('x'.repeat(100_000)) },
      /40000\d\d bytes of arguments and \d+ bytes/,
    ],
  ])('%s that is too large for the kernel', async (_, options, what) => {
    const error = await rejection(() => bash('echo hi', options));
    expect(error.code).toBe('ERR_BASH_SPAWN');
    expect(error.errno).toBe('E2BIG');
    expect(error.message).toMatch(what);
    expect(error.message).not.toContain('xxxx');
    expect((await bash('echo on')).stdout).toBe('on\n');
  });
});
