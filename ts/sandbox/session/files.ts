import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { failure, invalid } from '../errors.ts';
import { isFile, locate, orMissing, readable, write } from '../file.ts';
import { checkedFile, type PathOptions } from './options.ts';
import { decode, encode, linesOf } from './text.ts';
import type { SandboxSession } from './types.ts';

type Files = Omit<SandboxSession, 'description' | 'run' | 'spawn'>;

/** The file side of a session whose folder is `folder`. */
export function sessionFiles(folder: string): Files {
  const pathOf = (options: PathOptions) => locate(folder, checkedFile(options).path);

  const bytesOf = async (options: PathOptions): Promise<Uint8Array | null> => {
    const path = pathOf(options);
    const { abortSignal } = options;
    try {
      const bytes = (await isFile(path)) ? await readFile(path, { signal: abortSignal }).catch(orMissing) : null;
      abortSignal?.throwIfAborted();
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      abortSignal?.throwIfAborted();
      throw error;
    }
  };

  return {
    readFile: async (options) => readable(pathOf(options), options.abortSignal),

    readBinaryFile: async (options) => bytesOf(options),

    async readTextFile(options) {
      const bytes = await bytesOf(options);
      const { encoding, startLine, endLine } = options;
      return bytes && linesOf(decode(bytes, encoding ?? 'utf-8'), startLine, endLine);
    },

    async writeFile(options) {
      const path = pathOf(options);
      const { content, abortSignal } = options;
      if (typeof content?.getReader !== 'function') throw invalid('content must be a ReadableStream');
      await write(path, content, abortSignal);
    },

    async writeBinaryFile(options) {
      const path = pathOf(options);
      const { content, abortSignal } = options;
      if (!(content instanceof Uint8Array)) throw invalid('content must be a Uint8Array');
      await write(path, content, abortSignal);
    },

    async writeTextFile(options) {
      const path = pathOf(options);
      const { content, encoding, abortSignal } = options;
      if (typeof content !== 'string') throw invalid('content must be a string');
      await write(path, encode(content, encoding ?? 'utf-8'), abortSignal);
    },

    async stat(options) {
      const found = await stat(pathOf(options)).catch(orMissing);
      return found && { type: typeOf(found), size: found.size };
    },

    async listDirectory(options) {
      const path = pathOf(options);
      const found = await stat(path).catch(orMissing);
      if (found === null) return null;
      if (!found.isDirectory()) throw failure('ENOTDIR', `is no folder: ${path}`);
      const entries = await readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({
        name: entry.name,
        type: entry.isSymbolicLink() ? 'symlink' : typeOf(entry),
      }));
    },

    async deleteFile(options) {
      const path = pathOf(options);
      const found = await lstat(path).catch(orMissing);
      if (found?.isDirectory()) throw failure('EISDIR', `is a folder, not a file: ${path}`);
      const deleted = found && (await unlink(path).then(() => true, orMissing));
      return deleted ?? false;
    },
  };
}

function typeOf(found: Stats | Dirent): 'file' | 'directory' | 'other' {
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'directory' : 'other';
}
