import { createJustBashSandbox } from '@ai-sdk/sandbox-just-bash';
import { createLocalSandboxSession, type SandboxSession } from 'agent-bash/sandbox';
import type { Experimental_SandboxSession } from 'ai7';
import { describe, expect, test } from 'vitest';
import { held } from '../../support/confined/index.ts';
import { inPlaces } from '../places.ts';
import { bytesOf, sessionInFolder, streamOf, textOf } from './support.ts';

// The common behaviour of the published session and ours, tested with the same cases.
type Published = Awaited<
  ReturnType<Awaited<ReturnType<ReturnType<typeof createJustBashSandbox>['createSession']>>['restricted']>
>;

describe('the published one', () => {
  behaves(async () => (await createJustBashSandbox({ cwd: '/work' }).createSession()).restricted(), {});
});

describe('ours', () => {
  inPlaces((place) => behaves(async () => (await place.sessionInFolder()).session, held));
});

/** Tests a session; `more` is in each of its results. */
function behaves(make: () => Promise<Published>, more: object): void {
  test('run gives exit code and both streams', async () => {
    const session = await make();
    expect(await session.run({ command: 'echo out; echo err >&2; exit 4' })).toEqual({
      exitCode: 4,
      stdout: 'out\n',
      stderr: 'err\n',
      ...more,
    });
    expect(await session.run({ command: 'no-such-program' })).toEqual({
      exitCode: 127,
      stdout: '',
      stderr: expect.stringContaining('no-such-program: command not found'),
      ...more,
    });
  });

  test('a command has its variables and its directory, and the next one neither', async () => {
    const session = await make();
    await session.writeTextFile({ path: 'sub/file', content: '' });
    const { stdout: root } = await session.run({ command: 'pwd' });
    const first = await session.run({
      command: 'cd .. && cd sub; pwd; echo "$WHO"; WHO=lost',
      workingDirectory: `${root.trim()}/sub`,
      env: { WHO: 'a $b `c` "d"' },
    });
    expect(first.stdout).toBe(`${root.trim()}/sub\na $b \`c\` "d"\n`);
    expect((await session.run({ command: 'pwd; echo "[$WHO]"' })).stdout).toBe(`${root}[]\n`);
  });

  test('spawn streams both outputs and waits for the end', async () => {
    const session = await make();
    const command = await session.spawn({ command: 'echo one; echo two >&2; exit 3' });
    const [stdout, stderr] = await Promise.all([textOf(command.stdout), textOf(command.stderr)]);
    expect([stdout, stderr, await command.wait()]).toEqual(['one\n', 'two\n', { exitCode: 3, ...more }]);
    await command.kill();
  });

  test('an aborted signal rejects with its reason, before anything is done', async () => {
    const session = await make();
    const reason = new Error('not wanted');
    const abortSignal = AbortSignal.abort(reason);
    const command = { command: 'echo >made', abortSignal };
    const file = { path: 'made', abortSignal };
    const calls = [
      () => session.run(command),
      () => session.spawn(command),
      () => session.readFile(file),
      () => session.readBinaryFile(file),
      () => session.readTextFile(file),
      () => session.writeFile({ ...file, content: streamOf('x') }),
      () => session.writeBinaryFile({ ...file, content: Uint8Array.of(1) }),
      () => session.writeTextFile({ ...file, content: 'x' }),
    ];
    for (const call of calls) await expect(call(), String(call)).rejects.toBe(reason);
    expect(await session.readTextFile({ path: 'made' })).toBeNull();
  });

  test('wait of an aborted spawn rejects with the reason', async () => {
    const session = await make();
    const reason = new Error('enough');
    const controller = new AbortController();
    const command = await session.spawn({ command: 'echo started; sleep 1000', abortSignal: controller.signal });
    controller.abort(reason);
    await expect(command.wait()).rejects.toBe(reason);
  });

  test('missing files are null', async () => {
    const session = await make();
    const missing = { path: 'not/here' };
    expect([
      await session.readFile(missing),
      await session.readBinaryFile(missing),
      await session.readTextFile(missing),
    ]).toEqual([null, null, null]);
  });

  test('a directory where a file is meant rejects', async () => {
    const session = await make();
    await session.writeTextFile({ path: 'folder/file', content: 'x' });
    const folder = { path: 'folder' };
    await expect(session.readFile(folder)).rejects.toThrow();
    await expect(session.readBinaryFile(folder)).rejects.toThrow();
    await expect(session.readTextFile(folder)).rejects.toThrow();
  });

  test('a written file is read, by files and by commands', async () => {
    const session = await make();
    await session.writeFile({ path: 'deep/er/stream', content: streamOf('a', 'b\n') });
    await session.writeBinaryFile({ path: 'bytes', content: Uint8Array.of(0, 255, 10) });
    await session.writeTextFile({ path: 'text', content: 'first' });
    await session.writeTextFile({ path: 'text', content: 'é' });
    expect(await textOf(await session.readFile({ path: 'deep/er/stream' }))).toBe('ab\n');
    expect([...((await session.readBinaryFile({ path: 'bytes' })) ?? [])]).toEqual([0, 255, 10]);
    expect(await session.readTextFile({ path: 'text' })).toBe('é');
    expect((await session.run({ command: 'cat deep/er/stream text' })).stdout).toBe('ab\né');
    await session.run({ command: 'echo made >made' });
    expect(await session.readTextFile({ path: 'made' })).toBe('made\n');
  });

  test.each([
    ['hex', '00ff'],
    ['base64', 'AP8='],
    ['latin1', '\u0000ÿ'],
    ['utf16le', '\uff00'],
  ])('text in %s', async (encoding, content) => {
    const session = await make();
    await session.writeTextFile({ path: 'file', content, encoding });
    expect([...((await session.readBinaryFile({ path: 'file' })) ?? [])]).toEqual([0, 255]);
    expect(await session.readTextFile({ path: 'file', encoding })).toBe(content);
  });

  const text = 'one\ntwo\nthree\n';
  const crlf = 'one\r\ntwo\r\nthree';
  test.each([
    [text, {}, text],
    [text, { startLine: 2 }, 'two\nthree\n'],
    [text, { endLine: 2 }, 'one\ntwo'],
    [text, { startLine: 2, endLine: 2 }, 'two'],
    [text, { startLine: 2, endLine: 99 }, 'two\nthree\n'],
    [text, { startLine: 9 }, ''],
    [text, { startLine: 3, endLine: 2 }, ''],
    [text, { startLine: 0, endLine: 1 }, 'one'],
    [text, { startLine: 1, endLine: 0 }, ''],
    [crlf, { startLine: 2 }, 'two\r\nthree'],
    [crlf, { endLine: 2 }, 'one\r\ntwo'],
    ['one\rtwo', { startLine: 2 }, 'two'],
    ['', { startLine: 1, endLine: 1 }, ''],
  ])('lines of %j, %j', async (content, range, expected) => {
    const session = await make();
    await session.writeTextFile({ path: 'file', content });
    expect(await session.readTextFile({ path: 'file', ...range })).toBe(expected);
  });
}

test('ours has all twelve members, on a plain object, and they need no receiver', async () => {
  const { session } = await sessionInFolder();
  expect(Object.keys(session).sort()).toEqual([
    'deleteFile',
    'description',
    'listDirectory',
    'readBinaryFile',
    'readFile',
    'readTextFile',
    'run',
    'spawn',
    'stat',
    'writeBinaryFile',
    'writeFile',
    'writeTextFile',
  ]);
  expect(Object.getPrototypeOf(session)).toBe(Object.prototype);
  const { run, spawn, writeTextFile, stat } = { ...session };
  await writeTextFile({ path: 'file', content: 'four' });
  expect(await stat({ path: 'file' })).toEqual({ type: 'file', size: 4 });
  expect((await run({ command: 'cat file' })).stdout).toBe('four');
  expect((await bytesOf((await spawn({ command: 'cat file' })).stdout)).toString()).toBe('four');
});

test('ours is a session of ai 7, by its types', () => {
  const session: Experimental_SandboxSession = createLocalSandboxSession();
  const own: SandboxSession = createLocalSandboxSession();
  expect(session.description).toBe(own.description);
});
