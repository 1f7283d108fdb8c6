import { type FileHandle, mkdir, open, stat, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, resolve } from 'node:path';
import { failure, invalid } from './errors.ts';

const CHUNK_BYTES = 64 * 1024;
/** The permissions of a new file until it has its own. */
const OWNER_ONLY = 0o600;

/** The content that a sandbox writes into a file. */
export type Content = string | Uint8Array | ReadableStream<Uint8Array>;

/** Returns the absolute path that a sandbox's caller means. Throws `ERR_BASH_INVALID_ARG` for an invalid one. */
export function locate(folder: string, path: unknown, base: unknown = '.'): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0'))
    throw invalid('path must be a non-empty string without NUL');
  if (typeof base !== 'string') throw invalid('cwd must be a string');
  return resolve(folder, base, path);
}

/**
 * Returns whether the path is a file. Rejects for a directory (`EISDIR`) and for a pipe, a socket or a device
 * (`EINVAL`).
 */
export async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(orMissing);
  if (found?.isDirectory()) throw failure('EISDIR', `is a directory, not a file: ${path}`);
  // Opening or reading a pipe without a writer, or a terminal, may block forever and keep the process alive. /dev/zero
  // never ends.
  const endless = found?.isFIFO() || found?.isSocket() || found?.isCharacterDevice() || found?.isBlockDevice();
  if (endless && path !== devNull) throw failure('EINVAL', `is a pipe, a socket or a device, not a file: ${path}`);
  return found !== null;
}

/** The files of streams that were dropped before their end. */
const dropped = new FinalizationRegistry<FileHandle>((file) => void file.close().catch(() => {}));

/**
 * Returns a file's bytes, or `null` without a file. The first read opens it, so that an unread stream holds no
 * descriptor.
 */
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

/**
 * Replaces a file and creates its parent directories. With `mode` it has these permissions before any content. An abort
 * rejects with its reason and may leave the file cut short. A stream that was not read to its end is cancelled.
 */
export async function write(path: string, content: Content, signal?: AbortSignal, mode?: number): Promise<void> {
  try {
    await isFile(path);
    await makeFolder(dirname(path));
    signal?.throwIfAborted();
    const data = isStream(content) ? chunksOf(content, signal) : content;
    await (mode === undefined ? writeFile(path, data, { signal }) : writeWithMode(path, data, mode, signal));
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    // Node creates the file before it reads from the stream.
    cancelUnread(content, reason);
    throw reason;
  }
}

async function writeWithMode(
  path: string,
  data: Parameters<typeof writeFile>[1],
  mode: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = await open(path, 'w', OWNER_ONLY);
  try {
    await file.chmod(mode);
    await writeFile(file, data, { signal });
  } finally {
    await file.close();
  }
}

/** Cancels a stream that has no reader yet. */
export function cancelUnread(content: Content, reason: unknown): void {
  if (isStream(content) && !content.locked) content.cancel(reason).catch(() => {});
}

function isStream(content: Content): content is ReadableStream<Uint8Array> {
  return typeof content !== 'string' && !(content instanceof Uint8Array);
}

/**
 * Creates a directory and its parents. An existing one stays unchanged. Node's `recursive` never returns below /proc,
 * where a directory that cannot be created is reported as missing.
 */
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

/** Yields the chunks of a stream. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  try {
    // An abort from before has no event.
    signal?.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      if (!(value instanceof Uint8Array)) throw invalid('content must be a stream of Uint8Array');
      yield value;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    // The source is not read any further once the write has failed.
    stop();
  }
}

/** Returns `null` for a missing path and rethrows any other error. */
export function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
