import { mkdir, open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { failure, invalid } from './errors.ts';
import type { LocalSandbox } from './types.ts';

const CHUNK_BYTES = 64 * 1024;

/** The file side of a sandbox whose folder is `folder`. */
export function sandboxFiles(folder: string): Pick<LocalSandbox, 'readFile' | 'writeFiles' | 'mkDir'> {
  const locate = (path: unknown, base: unknown = '.') => {
    if (typeof path !== 'string' || path === '' || path.includes('\0'))
      throw invalid('path must be a non-empty string without NUL');
    if (typeof base !== 'string') throw invalid('cwd must be a string');
    return resolve(folder, base, path);
  };

  return {
    async readFile(file) {
      const path = locate(file?.path, file?.cwd);
      const found = await stat(path).catch(orMissing);
      if (found === null) return null;
      if (found.isDirectory()) throw failure('EISDIR', `is a folder, not a file: ${path}`);
      // Opening a pipe that nobody writes to would wait for ever.
      if (found.isFIFO() || found.isSocket()) throw failure('EINVAL', `is a pipe or socket, not a file: ${path}`);
      await (await open(path)).close();
      return contents(path);
    },

    async writeFiles(files) {
      if (!Array.isArray(files)) throw invalid('files must be an array of { path, content }');
      const located = files.map((file) => {
        if (typeof file?.content !== 'string' && !(file?.content instanceof Uint8Array))
          throw invalid('content must be a string or a Uint8Array');
        return { path: locate(file.path), content: file.content };
      });
      for (const { path, content } of located) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      }
    },

    async mkDir(path) {
      await mkdir(locate(path), { recursive: true });
    },
  };
}

/** A file's bytes. It is opened at the first read, so that a stream nobody reads holds no descriptor. */
function contents(path: string): ReadableStream<Uint8Array> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        file ??= await open(path);
        try {
          const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null);
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        } catch (error) {
          await file.close();
          throw error;
        }
        await file.close();
        controller.close();
      },
      async cancel() {
        await file?.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** `null` for a path that leads nowhere; any other error goes on. */
function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
