import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRoot, settles, until } from '../../support/index.ts';
import { inPlaces } from '../places.ts';
import { streamOf, textOf } from './support.ts';

inPlaces((place) => {
  test('stat follows links, and tells files, directories and the rest apart', async () => {
    const { folder, session } = await place.sessionInFolder();
    await mkdir(join(folder, 'folder'));
    await writeFile(join(folder, 'file'), '12345');
    await symlink('file', join(folder, 'link'));
    await symlink('folder', join(folder, 'way'));
    await symlink('nowhere', join(folder, 'broken'));
    await session.run({ command: 'mkfifo pipe' });
    expect(await session.stat({ path: 'file' })).toEqual({ type: 'file', size: 5 });
    expect(await session.stat({ path: join(folder, 'link') })).toEqual({ type: 'file', size: 5 });
    expect(await session.stat({ path: 'way' })).toMatchObject({ type: 'directory' });
    expect(await session.stat({ path: '.' })).toMatchObject({ type: 'directory' });
    expect(await session.stat({ path: 'pipe' })).toMatchObject({ type: 'other' });
    expect(await session.stat({ path: 'broken' })).toBeNull();
    expect(await session.stat({ path: 'gone' })).toBeNull();
    expect(await session.stat({ path: 'file/below' })).toBeNull();
  });

  test('listDirectory does not follow links and does not descend', async () => {
    const { folder, session } = await place.sessionInFolder();
    await mkdir(join(folder, 'list/folder/deep'), { recursive: true });
    await writeFile(join(folder, 'list/.hidden'), '');
    await writeFile(join(folder, 'list/new\nline'), '');
    await symlink('folder', join(folder, 'list/link'));
    await session.run({ command: 'mkfifo list/pipe' });
    const entries = await session.listDirectory({ path: 'list' });
    expect(entries?.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: '.hidden', type: 'file' },
      { name: 'folder', type: 'directory' },
      { name: 'link', type: 'symlink' },
      { name: 'new\nline', type: 'file' },
      { name: 'pipe', type: 'other' },
    ]);
    expect(await session.listDirectory({ path: 'list/folder/deep' })).toEqual([]);
    expect(await session.listDirectory({ path: 'gone' })).toBeNull();
    await expect(session.listDirectory({ path: 'list/.hidden' })).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(await session.listDirectory({ path: 'list/.hidden/below' })).toBeNull();
  });

  test('deleteFile deletes a file, or a link and not its target', async () => {
    const { folder, session } = await place.sessionInFolder();
    await mkdir(join(folder, 'folder'));
    await writeFile(join(folder, 'file'), 'kept');
    await symlink('folder', join(folder, 'link'));
    await symlink('nowhere', join(folder, 'broken'));
    expect(await session.deleteFile({ path: 'link' })).toBe(true);
    expect(await session.deleteFile({ path: 'broken' })).toBe(true);
    expect((await stat(join(folder, 'folder'))).isDirectory()).toBe(true);
    await expect(session.deleteFile({ path: 'folder' })).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await session.deleteFile({ path: 'gone' })).toBe(false);
    expect(await session.deleteFile({ path: 'file/below' })).toBe(false);
    expect(await session.deleteFile({ path: 'file' })).toBe(true);
    expect(await session.deleteFile({ path: 'file' })).toBe(false);
  });

  test('a directory in the place of a file rejects, for reads and writes', async () => {
    const { session } = await place.sessionInFolder();
    await session.writeTextFile({ path: 'folder/file', content: '' });
    const calls = [
      session.readFile({ path: 'folder' }),
      session.readTextFile({ path: 'folder' }),
      session.writeTextFile({ path: 'folder', content: 'x' }),
      session.writeBinaryFile({ path: 'folder', content: Uint8Array.of(1) }),
      session.writeFile({ path: 'folder', content: streamOf('x') }),
    ];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 'EISDIR' })));
  });

  test('a pipe is neither read nor written, and no call blocks', async () => {
    const { session } = await place.sessionInFolder();
    await session.run({ command: 'mkfifo pipe' });
    for (const path of ['pipe', '/dev/zero', '/dev/ptmx', '/dev/tty']) {
      await expect(settles(session.readTextFile({ path }))).rejects.toMatchObject({ code: 'EINVAL' });
    }
    expect(await session.readTextFile({ path: '/dev/null' })).toBe('');
    await expect(settles(session.writeTextFile({ path: 'pipe', content: 'x' }))).rejects.toMatchObject({
      code: 'EINVAL',
    });
  });

  test('a write keeps the mode of a file, and writes through a link', async () => {
    const { folder, session } = await place.sessionInFolder();
    await session.run({ command: 'echo old >script; chmod 755 script; ln -s script link' });
    await session.writeTextFile({ path: 'link', content: 'new' });
    expect(await readFile(join(folder, 'script'), 'utf8')).toBe('new');
    expect((await stat(join(folder, 'script'))).mode & 0o777).toBe(0o755);
  });

  test('a write that is aborted midway rejects with the reason, though its stream is silent', async () => {
    const { session } = await place.sessionInFolder();
    const controller = new AbortController();
    const reason = new Error('enough');
    let cancelled: unknown;
    const content = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.from('x')),
      cancel: (why) => {
        cancelled = why;
      },
    });
    const writing = session.writeFile({ path: 'file', content, abortSignal: controller.signal });
    writing.catch(() => {});
    await settles(
      (async () => {
        while ((await session.stat({ path: 'file' })) === null) await new Promise((resolve) => setImmediate(resolve));
      })(),
    );
    controller.abort(reason);
    await expect(settles(writing)).rejects.toBe(reason);
    await until(() => cancelled === reason, 'the stream is cancelled');
  });

  test('a write that fails before it reads cancels its stream', async () => {
    const { session } = await place.sessionInFolder();
    await session.run({ command: 'mkdir directory' });
    const reasons: unknown[] = [];
    const content = () => new ReadableStream<Uint8Array>({ cancel: (why) => void reasons.push(why) });
    await expect(session.writeFile({ path: 'directory', content: content() })).rejects.toThrow();
    const reason = new Error('enough');
    const controller = new AbortController();
    const writing = session.writeFile({ path: 'file', content: content(), abortSignal: controller.signal });
    controller.abort(reason);
    await expect(writing).rejects.toBe(reason);
    expect(reasons).toEqual([expect.objectContaining({ code: expect.any(String) }), reason]);
  });

  test('a stream that fails fails the write, and one of text is refused', async () => {
    const { session } = await place.sessionInFolder();
    const broken = new ReadableStream<Uint8Array>({ pull: (stream) => stream.error(new Error('lost')) });
    await expect(session.writeFile({ path: 'file', content: broken })).rejects.toThrow('lost');
    const text = new ReadableStream({ pull: (stream) => stream.enqueue('text') });
    await expect(session.writeFile({ path: 'file', content: text })).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
    });
  });

  test('a stream that is being read ends with the reason of an abort', async () => {
    const { session } = await place.sessionInFolder();
    await session.run({ command: 'head -c 1000000 /dev/zero >large' });
    const controller = new AbortController();
    const stream = await session.readFile({ path: 'large', abortSignal: controller.signal });
    const reader = (stream as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).done).toBe(false);
    controller.abort(new Error('enough'));
    await expect(reader.read()).rejects.toThrow('enough');
  });

  test('encodings beyond those of Buffer are read, and refused in writing', async () => {
    const { session } = await place.sessionInFolder();
    await session.writeBinaryFile({ path: 'sjis', content: Uint8Array.of(0x93, 0xfa) });
    expect(await session.readTextFile({ path: 'sjis', encoding: 'shift_jis' })).toBe('日');
    await expect(session.readTextFile({ path: 'sjis', encoding: 'klingon' })).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining('klingon'),
    });
    await expect(session.writeTextFile({ path: 'x', content: '日', encoding: 'shift_jis' })).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
    });
    expect(await session.stat({ path: 'x' })).toBeNull();
  });

  test('a mark at the beginning of a text stays', async () => {
    const { session } = await place.sessionInFolder();
    await session.writeTextFile({ path: 'bom', content: '\ufeffx' });
    expect(await session.readTextFile({ path: 'bom' })).toBe('\ufeffx');
    expect(await session.readTextFile({ path: 'bom', encoding: 'utf-16le' })).not.toBe('');
  });

  test('large files come in pieces', async () => {
    const { session } = await place.sessionInFolder();
    await session.run({ command: 'seq 1000000 >large' });
    const text = await textOf(await session.readFile({ path: 'large' }));
    expect(text).toBe(await session.readTextFile({ path: 'large' }));
    const copy = await session.readFile({ path: 'large' });
    await session.writeFile({ path: 'copy', content: copy as ReadableStream<Uint8Array> });
    expect((await session.run({ command: 'cmp large copy' })).exitCode).toBe(0);
  });

  test.skipIf(isRoot)('an unreadable file rejects', async () => {
    const { session } = await place.sessionInFolder();
    await session.run({ command: 'echo x >secret; chmod 0 secret' });
    await expect(session.readTextFile({ path: 'secret' })).rejects.toMatchObject({ code: 'EACCES' });
    await expect(session.readFile({ path: 'secret' })).rejects.toMatchObject({ code: 'EACCES' });
  });

  test.each([
    ['readFile', undefined, 'path'],
    ['readTextFile', {}, 'path'],
    ['readTextFile', { path: '' }, 'path'],
    ['readBinaryFile', { path: 'a\0b' }, 'path'],
    ['readTextFile', { path: 'there', startLine: 1.5 }, 'startLine'],
    ['readTextFile', { path: 'there', endLine: '2' }, 'endLine'],
    ['stat', { path: 1 }, 'path'],
    ['listDirectory', null, 'path'],
    ['deleteFile', { path: 'x', abortSignal: 1 }, 'abortSignal'],
    ['writeTextFile', { path: 'x' }, 'content'],
    ['writeTextFile', { path: 'x', content: 1 }, 'content'],
    ['writeBinaryFile', { path: 'x', content: 'text' }, 'content'],
    ['writeFile', { path: 'x', content: 'text' }, 'content'],
  ] as const)('%s(%j) is refused', async (member, options, name) => {
    const { session } = await place.sessionInFolder();
    await session.writeTextFile({ path: 'there', content: 'x' });
    await expect((session[member] as (given: never) => Promise<unknown>)(options as never)).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining(name),
    });
  });
});
