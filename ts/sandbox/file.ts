import { type FileHandle, mkdir, open, stat, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, resolve } from 'node:path';
import { failure, invalid } from './errors.ts';

const CHUNK_BYTES = 64 * 1024;

/** The absolute path that a sandbox's caller means. Throws `ERR_BASH_INVALID_ARG` for what is none. */
export function locate(folder: string, path: unknown, base: unknown = '.'): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw invalid('path must be a non-empty string without NUL');
  if (typeof base !== 'string') throw invalid('cwd must be a string');
  return resolve(folder, base, path);
}

/** Whether there is a file. Rejects for what is there and is none: a folder (`EISDIR`), a pipe, a socket or a device (`EINVAL`). */
export async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(orMissing);
  if (found?.isDirectory()) throw failure('EISDIR', `is a folder, not a file: ${path}`);
  // A pipe with nobody at its other end, a terminal: who opens or reads them may wait for ever, and keeps the process from ending. /dev/zero never ends.
  const endless = found?.isFIFO() || found?.isSocket() || found?.isCharacterDevice() || found?.isBlockDevice();
  if (endless && path !== devNull) throw failure('EINVAL', `is a pipe, a socket or a device, not a file: ${path}`);
  return found !== null;
}

/** The files of streams that were read from and then dropped. */
const dropped = new FinalizationRegistry<FileHandle>((file) => void file.close().catch(() => {}));

/** A file's bytes, `null` when there is none. It is opened at the first read, so that a stream nobody reads holds no descriptor. */
export async function readable(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  if (!(await isFile(path))) return null;
  await (await open(path)).close();
  signal?.throwIfAborted();
  let file: FileHandle | undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          signal?.throwIfAborted();
          file ??= await opened();
          const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null);
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        } catch (error) {
          await file?.close();
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
  const seen = new WeakRef(stream);
  const opened = async () => {
    const handle = await open(path);
    const reader = seen.deref();
    if (reader) dropped.register(reader, handle);
    return handle;
  };
  return stream;
}

/** Writes a file over what is there, and makes the folders it lies in. An abort rejects with its reason; the file may be cut short then. */
export async function write(
  path: string,
  content: string | Uint8Array | ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  await isFile(path);
  await makeFolder(dirname(path));
  signal?.throwIfAborted();
  const data = typeof content === 'string' || content instanceof Uint8Array ? content : chunksOf(content, signal);
  try {
    await writeFile(path, data, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Makes a folder and those above it; one that is there is left as it is. `recursive` of Node never ends below /proc, where what cannot be made is told as missing. */
export async function makeFolder(path: string): Promise<void> {
  const unlessThere = async (error: NodeJS.ErrnoException) => {
    if (!(await stat(path).catch(orMissing))?.isDirectory()) throw error;
  };
  try {
    await mkdir(path);
  } catch (error) {
    const failed = error as NodeJS.ErrnoException;
    const above = dirname(path);
    if (failed.code !== 'ENOENT' || above === path) return unlessThere(failed);
    await makeFolder(above);
    await mkdir(path).catch(unlessThere);
  }
}

async function* chunksOf(stream: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      if (!(value instanceof Uint8Array)) throw invalid('content must be a stream of Uint8Array');
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    // Of a file that could not be written nobody reads the rest.
    stop();
  }
}

/** `null` for a path that leads nowhere; any other error goes on. */
export function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
