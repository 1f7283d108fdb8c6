import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { BackgroundRegistry } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { confined, held } from '../../support/confined/index.ts';
import { settles } from '../../support/index.ts';
import { inPlaces } from '../places.ts';
import { isAlive, pidFrom, temporaryFolder } from './support.ts';

inPlaces((place) => {
  test('one fixed directory: relative ones start there, wherever the process goes', async () => {
    const folder = place.target?.info.cwd ?? (await temporaryFolder());
    await mkdir(join(folder, 'base/sub'), { recursive: true });
    const before = process.cwd();
    process.chdir(folder);
    onTestFinished(() => process.chdir(before));
    await using session = place.session({ cwd: 'base' });
    process.chdir(before);
    const here = await session.run({ command: 'pwd' });
    const sub = await session.run({ command: 'pwd; cd /; pwd', workingDirectory: 'sub' });
    const absolute = await session.run({ command: 'pwd', workingDirectory: '/' });
    expect([here, sub, absolute].map(({ stdout }) => stdout)).toEqual([
      `${folder}/base\n`,
      `${folder}/base/sub\n/\n`,
      '/\n',
    ]);
    expect(session.description).toContain(`Root directory: ${folder}/base.`);
    expect(session.description).toMatch(confined ? /commands are confined/i : /nothing is confined/i);
  });

  test('output is whole and unchanged, past every limit of a result', async () => {
    const { session } = await place.sessionInFolder();
    const { stdout, stderr } = await session.run({
      command: String.raw`printf '\033[1m%s\r\n' bold; head -c 20000000 /dev/zero | tr '\0' x; printf '\a\b' >&2`,
    });
    expect(stdout.length).toBe(20_000_010);
    expect(stdout.startsWith('\u001b[1mbold\r\nxx')).toBe(true);
    expect(stderr).toBe('\u0007\b');
  });

  test('an abort midway ends all of it, and resolves with the output so far', async () => {
    const { folder, session } = await place.sessionInFolder();
    const controller = new AbortController();
    const running = session.run({
      // As the last command, setsid would take the place of the shell, fork and exit at once.
      command: 'echo begun; setsid bash -c "echo \\$\\$ >pid; sleep 1000"; echo not reached',
      abortSignal: controller.signal,
    });
    const pid = await pidFrom(join(folder, 'pid'));
    controller.abort(new Error('enough'));
    expect(await settles(running)).toEqual({ exitCode: 130, stdout: 'begun\n', stderr: '', ...held });
    expect(await isAlive(pid)).toBe(false);
  });

  test('many commands on one signal leave no listener', async () => {
    const { session } = await place.sessionInFolder();
    const { signal: abortSignal } = new AbortController();
    let listeners = 0;
    const add = abortSignal.addEventListener.bind(abortSignal);
    const remove = abortSignal.removeEventListener.bind(abortSignal);
    abortSignal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    abortSignal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => session.run({ command: `echo ${index}`, abortSignal })),
    );
    expect(results.map(({ stdout }) => Number(stdout))).toEqual(results.map((_, index) => index));
    expect(listeners).toBe(0);
  });

  test('there is no time limit unless one is asked for', async () => {
    const { session } = await place.sessionInFolder({ timeoutMs: 2_000, graceMs: 0 });
    expect(await session.run({ command: 'echo begun; sleep 1000' })).toEqual({
      exitCode: 124,
      stdout: 'begun\n',
      stderr: '',
      ...held,
    });
  });

  test('a registry of the options does not take commands away', async () => {
    await using registry = new BackgroundRegistry({ target: place.target });
    const { session } = await place.sessionInFolder({ registry, timeoutMs: 300, graceMs: 0 });
    expect((await session.run({ command: 'sleep 1000' })).exitCode).toBe(124);
  });

  test('each command is judged, and safety of the options holds', async () => {
    const { folder, session } = await place.sessionInFolder();
    await expect(session.run({ command: `rm -rf ${await realpath('/')}usr` })).rejects.toMatchObject({
      code: 'ERR_BASH_BLOCKED',
      findings: [expect.anything()],
    });
    await expect(session.spawn({ command: 'git add -A', workingDirectory: folder })).rejects.toMatchObject({
      code: 'ERR_BASH_BLOCKED',
    });
    await using unjudged = place.session({ cwd: folder, safety: 'off' });
    expect((await unjudged.run({ command: 'git add -A' })).exitCode).not.toBe(0);
  });

  test('secrets of the host are withheld, and the listener of the options receives all output', async () => {
    process.env.TEST_SESSION_TOKEN = 'hidden';
    onTestFinished(() => {
      process.env.TEST_SESSION_TOKEN = undefined;
      delete process.env.TEST_SESSION_TOKEN;
    });
    const heard: string[] = [];
    const { session } = await place.sessionInFolder({
      env: { MINE: '1' },
      onOutput: ({ text }) => void heard.push(text),
    });
    const { stdout } = await session.run({ command: 'echo "[$TEST_SESSION_TOKEN$MINE$YOURS]"', env: { YOURS: '2' } });
    expect(stdout).toBe('[12]\n');
    expect(heard.join('')).toBe(stdout);
  });

  test.each([
    [() => place.session({ cwd: 1 as never }), 'cwd'],
    [() => place.session({ home: 1 as never }), 'home'],
    [() => place.session({ env: 5 as never }), 'env'],
    [() => place.session({ mode: 'background' }), 'mode'],
  ])('options that cannot be are refused: %s', (make, name) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(name) }),
    );
  });

  test.each([
    [undefined, 'command'],
    [{}, 'command'],
    [{ command: 1 }, 'command'],
    [{ command: 'true', workingDirectory: 1 }, 'workingDirectory'],
    [{ command: 'true', env: 'A=1' }, 'env'],
    [{ command: 'true', env: { A: 1 } }, 'env.A'],
    [{ command: 'true', abortSignal: {} }, 'abortSignal'],
    [{ command: 'true\0' }, 'NUL'],
  ])('a command that cannot be is refused: %j', async (options, name) => {
    const { session } = await place.sessionInFolder();
    for (const call of [session.run, session.spawn] as ((given: never) => Promise<unknown>)[]) {
      await expect(call(options as never)).rejects.toMatchObject({
        code: 'ERR_BASH_INVALID_ARG',
        message: expect.stringContaining(name),
      });
    }
  });

  test('a missing directory is named', async () => {
    const { folder, session } = await place.sessionInFolder();
    for (const call of [session.run, session.spawn]) {
      await expect(call({ command: 'true', workingDirectory: 'gone' })).rejects.toMatchObject({
        code: 'ERR_BASH_CWD_NOT_FOUND',
        message: expect.stringContaining(join(folder, 'gone')),
      });
    }
  });
});
