import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { inPlaces } from './places.ts';
import { temporaryFolder, textOf } from './support.ts';

inPlaces((place) => {
  async function sandboxInFolder() {
    const folder = await temporaryFolder();
    return { folder, sandbox: place.sandbox({ cwd: folder }) };
  }

  describe('readFile', () => {
    test('streams a file of the directory, however large', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      const text = '0123456789abcdef'.repeat(20_000);
      await writeFile(join(folder, 'large.txt'), text);
      expect(await textOf(await sandbox.readFile({ path: 'large.txt' }))).toBe(text);
    });

    test('can be read as an async iterable too, bytes unchanged', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await writeFile(join(folder, 'bytes'), bytes);
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await sandbox.readFile({ path: 'bytes' })) as unknown as AsyncIterable<Uint8Array>)
        chunks.push(chunk);
      expect(new Uint8Array(Buffer.concat(chunks))).toEqual(bytes);
    });

    test('takes a path relative to the sandbox, to a cwd in it, or an absolute one', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await mkdir(join(folder, 'a'));
      await writeFile(join(folder, 'a', 'b.txt'), 'text');
      expect(await textOf(await sandbox.readFile({ path: 'a/b.txt' }))).toBe('text');
      expect(await textOf(await sandbox.readFile({ path: 'b.txt', cwd: 'a' }))).toBe('text');
      expect(await textOf(await sandbox.readFile({ path: join(folder, 'a/b.txt'), cwd: 'elsewhere' }))).toBe('text');
    });

    test('is null for a file that is missing, also below a file', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await writeFile(join(folder, 'file'), '');
      expect(await sandbox.readFile({ path: 'missing' })).toBeNull();
      expect(await sandbox.readFile({ path: 'missing/too' })).toBeNull();
      expect(await sandbox.readFile({ path: 'file/below' })).toBeNull();
    });

    test('an empty file is an empty stream', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await writeFile(join(folder, 'empty'), '');
      expect(await textOf(await sandbox.readFile({ path: 'empty' }))).toBe('');
    });

    test('rejects a directory, and a pipe that would never end', async () => {
      const { sandbox } = await sandboxInFolder();
      await sandbox.mkDir('folder');
      await expect(sandbox.readFile({ path: 'folder' })).rejects.toMatchObject({ code: 'EISDIR' });
      await sandbox.runCommand('mkfifo', ['pipe']);
      await expect(sandbox.readFile({ path: 'pipe' })).rejects.toMatchObject({ code: 'EINVAL' });
    });

    test('holds no descriptor of an unread stream', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await writeFile(join(folder, 'file'), 'text');
      const streams = await Promise.all(Array.from({ length: 50 }, () => sandbox.readFile({ path: 'file' })));
      const open = await place
        .sandbox()
        .runCommand('bash', ['-c', `ls -l /proc/${process.pid}/fd | grep -c "${folder}/file"`]);
      expect(streams.length).toBe(50);
      if (process.platform === 'linux') expect(await open.stdout()).toBe('0\n');
    });
  });

  describe('writeFiles', () => {
    test('writes text and bytes, over an existing file, and creates the directories', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await writeFile(join(folder, 'old.txt'), 'a longer text than the new one');
      await sandbox.writeFiles([
        { path: 'old.txt', content: 'new' },
        { path: 'deep/er/file.txt', content: 'é' },
        { path: 'bytes', content: Uint8Array.of(0, 255, 10) },
        { path: 'twice', content: 'first' },
        { path: 'twice', content: 'second' },
      ]);
      expect(await readFile(join(folder, 'old.txt'), 'utf8')).toBe('new');
      expect(await readFile(join(folder, 'deep/er/file.txt'), 'utf8')).toBe('é');
      expect([...(await readFile(join(folder, 'bytes')))]).toEqual([0, 255, 10]);
      expect(await readFile(join(folder, 'twice'), 'utf8')).toBe('second');
    });

    test('checks everything before it writes anything', async () => {
      const { sandbox } = await sandboxInFolder();
      const files = [
        { path: 'good', content: 'text' },
        { path: 'bad', content: 7 as never },
      ];
      await expect(sandbox.writeFiles(files)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
      await expect(sandbox.writeFiles([{ path: '', content: '' }])).rejects.toMatchObject({
        code: 'ERR_BASH_INVALID_ARG',
      });
      expect(await sandbox.readFile({ path: 'good' })).toBeNull();
    });

    test('rejects if a directory is in the way', async () => {
      const { sandbox } = await sandboxInFolder();
      await sandbox.mkDir('folder');
      await expect(sandbox.writeFiles([{ path: 'folder', content: '' }])).rejects.toMatchObject({ code: 'EISDIR' });
    });
  });

  describe('mkDir', () => {
    test('makes a directory and those above it, and leaves one that exists', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await sandbox.mkDir('a/b/c');
      await sandbox.writeFiles([{ path: 'a/b/c/file', content: 'kept' }]);
      await sandbox.mkDir('a/b/c');
      expect((await stat(join(folder, 'a/b/c'))).isDirectory()).toBe(true);
      expect(await textOf(await sandbox.readFile({ path: 'a/b/c/file' }))).toBe('kept');
    });

    test('rejects if a file is in the way', async () => {
      const { sandbox } = await sandboxInFolder();
      await sandbox.writeFiles([{ path: 'file', content: '' }]);
      await expect(sandbox.mkDir('file')).rejects.toMatchObject({ code: 'EEXIST' });
    });

    linuxTest('Linux: rejects below /proc, where the recursive mkdir of Node never ends', async () => {
      const sandbox = place.sandbox();
      await expect(sandbox.mkDir('/proc/missing/folder')).rejects.toMatchObject({ code: 'ENOENT' });
      const file = { path: '/proc/missing/file', content: '' };
      await expect(sandbox.writeFiles([file])).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(place.session().writeTextFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    });

    test('rejects below a file, below a link that leads nowhere, and in a circle of links', async () => {
      const { folder, sandbox } = await sandboxInFolder();
      await sandbox.writeFiles([{ path: 'file', content: '' }]);
      await symlink('nowhere', join(folder, 'dangling'));
      await symlink('circle', join(folder, 'circle'));
      await expect(sandbox.mkDir('file/below/it')).rejects.toMatchObject({ code: 'ENOTDIR' });
      await expect(sandbox.mkDir('dangling/below')).rejects.toMatchObject({ code: 'EEXIST' });
      await expect(sandbox.mkDir('circle/below')).rejects.toMatchObject({ code: 'ELOOP' });
    });
  });
});
