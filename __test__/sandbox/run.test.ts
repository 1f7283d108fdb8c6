import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inPlaces } from './places.ts';
import { temporaryFolder } from './support.ts';

inPlaces((place) => {
  describe('runCommand', () => {
    test('a program and its arguments, without a shell in between', async () => {
      const sandbox = place.sandbox();
      const odd = [
        '',
        ' two  spaces ',
        '$HOME `id` $(id)',
        "it's",
        '"quoted"',
        '*',
        'line\nbreak',
        '-n',
        '--',
        'é—🙂',
        '\\',
      ];
      const run = await sandbox.runCommand('node', [
        '-e',
        'console.log(JSON.stringify(process.argv.slice(1)))',
        '--',
        ...odd,
      ]);
      expect(run.exitCode).toBe(0);
      expect(JSON.parse(await run.stdout())).toEqual(odd);
      expect(await run.stderr()).toBe('');
    });

    test('the object form, with a directory and variables of its own', async () => {
      const folder = await temporaryFolder();
      await mkdir(join(folder, 'inner'));
      const sandbox = place.sandbox({ cwd: folder, env: { A: 'sandbox', B: 'sandbox' } });
      const run = await sandbox.runCommand({
        cmd: 'bash',
        args: ['-c', 'pwd; echo "$A $B"'],
        cwd: 'inner',
        env: { B: 'call' },
      });
      expect(await run.stdout()).toBe(`${join(folder, 'inner')}\nsandbox call\n`);
    });

    test('both forms start in the directory of the sandbox', async () => {
      const folder = await temporaryFolder();
      const sandbox = place.sandbox({ cwd: folder });
      expect(await (await sandbox.runCommand('pwd')).stdout()).toBe(`${folder}\n`);
      expect(await (await sandbox.runCommand({ cmd: 'pwd' })).stdout()).toBe(`${folder}\n`);
    });

    test('home is what HOME says, and without it HOME is the user’s', async () => {
      const home = await temporaryFolder();
      const show = { cmd: 'bash', args: ['-c', 'printf %s "$HOME"'] };
      expect(await (await place.sandbox({ home }).runCommand(show)).stdout()).toBe(home);
      expect(await (await place.sandbox().runCommand(show)).stdout()).toBe(place.home);
    });

    test.each([0, 1, 3, 126, 255])('exit code %i is a result', async (code) => {
      const run = await place.sandbox().runCommand('bash', ['-c', `exit ${code}`]);
      expect(run.exitCode).toBe(code);
    });

    test('a program that kills itself is 128 + n', async () => {
      const run = await place.sandbox().runCommand('bash', ['-c', 'echo before; kill -SEGV $$']);
      expect(run.exitCode).toBe(139);
      expect(await run.stdout()).toBe('before\n');
    });

    test.each(['no-such-program', './no-such-program', '/no/such/program', '-no-such', ''])(
      'the missing program %j is 127, and says so',
      async (cmd) => {
        const run = await place.sandbox().runCommand(cmd, ['an argument']);
        expect(run.exitCode).toBe(127);
        expect(await run.stdout()).toBe('');
        expect(await run.stderr()).toMatch(/not found|No such file/);
      },
    );

    test('a shell’s own commands are no programs', async () => {
      expect((await place.sandbox().runCommand('cd', ['/'])).exitCode).not.toBe(0);
      expect((await place.sandbox().runCommand('export', ['A=1'])).exitCode).toBe(127);
    });

    test('a file that is not executable is 126', async () => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, 'data.txt'), 'data');
      expect((await place.sandbox({ cwd: folder }).runCommand('./data.txt')).exitCode).toBe(126);
    });

    test('a program of the directory is run by its relative path, one whose name begins with a dash by the PATH', async () => {
      const folder = await temporaryFolder();
      const script = '#!/bin/sh\necho "ran with $1"\n';
      await writeFile(join(folder, 'tool'), script);
      await chmod(join(folder, 'tool'), 0o755);
      await symlink('tool', join(folder, '-c'));
      const sandbox = place.sandbox({ cwd: folder, env: { PATH: `${folder}:${process.env.PATH}` } });
      expect(await (await sandbox.runCommand('./tool', ['x'])).stdout()).toBe('ran with x\n');
      expect(await (await sandbox.runCommand('-c', ['x'])).stdout()).toBe('ran with x\n');
    });

    test('bash -c runs a command of any length', async () => {
      const word = 'x'.repeat(200_000);
      const run = await place
        .sandbox()
        .runCommand('bash', ['-c', `word=${word}; echo "$1 $#"; printf %s "$word" | cksum`, 'bash', 'a b']);
      expect(await run.stderr()).toBe('');
      expect(await run.stdout()).toMatch(/^a b 1\n\d+ 200000\n$/);
    });

    test('standard input is empty', async () => {
      const run = await place.sandbox().runCommand('cat');
      expect([run.exitCode, await run.stdout()]).toEqual([0, '']);
    });

    test('a secret of the host is withheld unless the sandbox is given it', async () => {
      process.env.SANDBOX_TEST_TOKEN = 'withheld';
      try {
        const show = { cmd: 'bash', args: ['-c', 'echo "[$SANDBOX_TEST_TOKEN]"'] };
        expect(await (await place.sandbox().runCommand(show)).stdout()).toBe('[]\n');
        const given = place.sandbox({ env: { SANDBOX_TEST_TOKEN: 'given' } });
        expect(await (await given.runCommand(show)).stdout()).toBe('[given]\n');
      } finally {
        delete process.env.SANDBOX_TEST_TOKEN;
      }
    });
  });

  describe('output', () => {
    test('is unchanged: colours, carriage returns, trailing blanks', async () => {
      const text = '\u001b[31mred\u001b[0m 10%\r20%\r100%\n\ttab \b bell\u0007  \r\nend';
      const run = await place.sandbox().runCommand('printf', ['%s', text]);
      expect(await run.stdout()).toBe(text);
    });

    test('is cleaned when that is asked for', async () => {
      const sandbox = place.sandbox({ sanitize: true });
      const run = await sandbox.runCommand('printf', ['%s', '\u001b[31mred\u001b[0m\n10%\r99%\n']);
      expect(await run.stdout()).toBe('red\n99%\n');
    });

    test('is whole, past the 16 MiB that a result keeps', { timeout: 60_000 }, async () => {
      const lines = 3_000_000;
      const run = await place.sandbox().runCommand('seq', [String(lines)]);
      const text = await run.stdout();
      expect(text.length).toBe(22_888_896);
      expect(text.startsWith('1\n2\n3\n')).toBe(true);
      expect(text.endsWith(`${lines - 1}\n${lines}\n`)).toBe(true);
      expect(text.split('\n').length).toBe(lines + 1);
    });

    test('is whole whatever truncate says', async () => {
      const sandbox = place.sandbox({ truncate: { keep: 'tail', maxLines: 2 }, spill: true });
      expect(await (await sandbox.runCommand('seq', ['5'])).stdout()).toBe('1\n2\n3\n4\n5\n');
    });

    test('comes by stream, or both in the order of arrival', async () => {
      const folder = await temporaryFolder();
      // Each write waits until the one before has arrived, so that the order is certain.
      let seen = '';
      const sandbox = place.sandbox({
        cwd: folder,
        onOutput: async ({ text }) => {
          seen += text;
          await writeFile(join(folder, `seen${seen.split('\n').length - 1}`), '');
        },
      });
      const script = `${['echo o1', 'echo e1 >&2', 'echo o2', 'echo e2 >&2']
        .map((say, index) => `${say}; until [ -e seen${index + 1} ]; do :; done`)
        .join('; ')}`;
      const run = await sandbox.runCommand('bash', ['-c', script]);
      expect(await run.output()).toBe('o1\ne1\no2\ne2\n');
      expect(await run.output('both')).toBe('o1\ne1\no2\ne2\n');
      expect(await run.output('stdout')).toBe('o1\no2\n');
      expect(await run.output('stderr')).toBe('e1\ne2\n');
      expect(seen).toBe('o1\ne1\no2\ne2\n');
    });

    test('a listener that throws loses nothing but itself', async () => {
      let calls = 0;
      const sandbox = place.sandbox({
        onOutput: () => {
          calls += 1;
          throw new Error('listener');
        },
      });
      const run = await sandbox.runCommand('bash', ['-c', 'seq 100000; echo err >&2']);
      expect((await run.stdout()).split('\n').length).toBe(100_001);
      expect(await run.stderr()).toBe('err\n');
      expect(calls).toBe(1);
    });
  });

  describe('ends', () => {
    test('an abort is 130 with the output so far', async () => {
      const controller = new AbortController();
      const sandbox = place.sandbox({ onOutput: () => controller.abort() });
      const run = await sandbox.runCommand({
        cmd: 'bash',
        args: ['-c', 'echo before; sleep 100'],
        signal: controller.signal,
      });
      expect(run.exitCode).toBe(130);
      expect(await run.stdout()).toBe('before\n');
    });

    test('a signal aborted before starts nothing, and is 130 too', async () => {
      const folder = await temporaryFolder();
      const sandbox = place.sandbox({ cwd: folder });
      const run = await sandbox.runCommand({ cmd: 'touch', args: ['started'], signal: AbortSignal.abort() });
      expect([run.exitCode, await run.output()]).toEqual([130, '']);
      expect(await sandbox.readFile({ path: 'started' })).toBeNull();
    });

    test('the signal of the sandbox ends its commands', async () => {
      const controller = new AbortController();
      const sandbox = place.sandbox({ signal: controller.signal, onOutput: () => controller.abort() });
      expect((await sandbox.runCommand('bash', ['-c', 'echo up; sleep 100'])).exitCode).toBe(130);
    });

    test('no listener is left on a signal', async () => {
      const controller = new AbortController();
      let listeners = 0;
      const signal = controller.signal;
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...args);
      };
      const sandbox = place.sandbox();
      await sandbox.runCommand({ cmd: 'true', signal });
      await expect(sandbox.runCommand({ cmd: 'true', cwd: 'missing', signal })).rejects.toThrow();
      expect(listeners).toBe(0);
    });

    test('a time limit holds only where one is asked for', async () => {
      const run = await place.sandbox({ timeoutMs: 200, graceMs: 100 }).runCommand('sleep', ['100']);
      expect(run.exitCode).toBe(124);
    });
  });

  describe('rejects when nothing could be run', () => {
    test('a directory that is missing, or is a file', async () => {
      const folder = await temporaryFolder();
      await writeFile(join(folder, 'file'), '');
      const sandbox = place.sandbox({ cwd: folder });
      await expect(sandbox.runCommand({ cmd: 'true', cwd: 'missing' })).rejects.toMatchObject({
        code: 'ERR_BASH_CWD_NOT_FOUND',
        message: expect.stringContaining(join(folder, 'missing')),
      });
      await expect(sandbox.runCommand({ cmd: 'true', cwd: 'file' })).rejects.toMatchObject({
        code: 'ERR_BASH_CWD_NOT_DIRECTORY',
      });
    });

    test.each<[string, unknown[]]>([
      ['no program', []],
      ['a program that is no string', [{ cmd: 7 }]],
      ['arguments that are no array', ['true', 'x']],
      ['an argument that is no string', ['true', [1]]],
      ['a folder that is no string', [{ cmd: 'true', cwd: 1 }]],
      ['variables that are no object', [{ cmd: 'true', env: 'A=1' }]],
      ['a signal that is none', [{ cmd: 'true', signal: {} }]],
      ['a NUL in an argument', ['true', ['a\0b']]],
    ])('%s is ERR_BASH_INVALID_ARG', async (_, args) => {
      const run = place.sandbox().runCommand as (...args: unknown[]) => Promise<unknown>;
      await expect(run(...args)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    });

    test('a sandbox whose cwd is no string is refused at once', () => {
      expect(() => place.sandbox({ cwd: 1 as never })).toThrow(
        expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
      );
    });
  });
});
