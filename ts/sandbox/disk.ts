import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { failure } from './errors.ts';
import { type Content, isFile, makeFolder, orMissing, readable, write } from './file.ts';

export type FileType = 'file' | 'directory' | 'other';

/**
 * The files that a sandbox's own methods reach, by absolute paths. A missing one is `null`. A directory where a file is
 * meant rejects with `EISDIR`, and a pipe, a socket or a device with `EINVAL`.
 */
export interface Disk {
  readable(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array> | null>;
  bytes(path: string, signal?: AbortSignal): Promise<Uint8Array | null>;
  /** Replaces a file and makes its parent directories. With `mode` it has these permissions before any content. */
  write(path: string, content: Content, signal?: AbortSignal, mode?: number): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Follows links. */
  stat(path: string): Promise<{ type: FileType; size: number } | null>;
  /** Rejects with `ENOTDIR` if the path is no directory. */
  list(path: string): Promise<{ name: string; type: FileType | 'symlink' }[] | null>;
  /** Returns whether there was a file. */
  delete(path: string): Promise<boolean>;
}

/** The files of this machine, as its user reaches them. */
export const HOST_DISK: Disk = {
  readable,
  write,
  makeFolder,

  async bytes(path, signal) {
    try {
      const bytes = (await isFile(path)) ? await readFile(path, { signal }).catch(orMissing) : null;
      signal?.throwIfAborted();
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },

  async stat(path) {
    const found = await stat(path).catch(orMissing);
    return found && { type: typeOf(found), size: found.size };
  },

  async list(path) {
    const found = await stat(path).catch(orMissing);
    if (found === null) return null;
    if (!found.isDirectory()) throw failure('ENOTDIR', `is not a directory: ${path}`);
    const entries = await readdir(path, { withFileTypes: true });
    return entries.map((entry) => ({
      name: entry.name,
      type: entry.isSymbolicLink() ? 'symlink' : typeOf(entry),
    }));
  },

  async delete(path) {
    const found = await lstat(path).catch(orMissing);
    if (found?.isDirectory()) throw failure('EISDIR', `is a directory, not a file: ${path}`);
    const deleted = found && (await unlink(path).then(() => true, orMissing));
    return deleted ?? false;
  },
};

function typeOf(found: Stats | Dirent): FileType {
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'directory' : 'other';
}
