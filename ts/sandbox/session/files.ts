import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { failure, invalid } from '../errors.ts';
import { isFile, locate, orMissing, readable, write } from '../file.ts';
import { LineRange } from './line-range.ts';
import { checkedFile, type PathOptions } from './options.ts';
import { decode, decoding, encode } from './text.ts';
import type { SandboxSession } from './types.ts';

type Reading = Pick<SandboxSession, 'readFile' | 'readBinaryFile' | 'readTextFile'>;
type Writing = Pick<SandboxSession, 'writeFile' | 'writeBinaryFile' | 'writeTextFile'>;
type Entries = Pick<SandboxSession, 'stat' | 'listDirectory' | 'deleteFile'>;

/** Checks the options of a method and returns the absolute path of its file. */
type PathOf = (options: PathOptions) => string;

/** The file methods of a session whose directory is `folder`. */
export function sessionFiles(folder: string): Reading & Writing & Entries {
  const pathOf: PathOf = (options) => locate(folder, checkedFile(options).path);
  return { ...reading(pathOf), ...writing(pathOf), ...entries(pathOf) };
}

function reading(pathOf: PathOf): Reading {
  return {
    readFile: async (options) => readable(pathOf(options), options.abortSignal),

    readBinaryFile: async (options) => bytesOf(pathOf(options), options.abortSignal),

    async readTextFile(options) {
      const { encoding = 'utf-8', startLine, endLine, abortSignal } = options;
      const path = pathOf(options);
      if (startLine !== undefined || endLine !== undefined) {
        return linesOf(path, { encoding, startLine, endLine }, abortSignal);
      }
      const bytes = await bytesOf(path, abortSignal);
      return bytes && decode(bytes, encoding);
    },
  };
}

function writing(pathOf: PathOf): Writing {
  return {
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
  };
}

function entries(pathOf: PathOf): Entries {
  return {
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

/** Returns a file's bytes, or `null` if there is no file. */
async function bytesOf(path: string, abortSignal: AbortSignal | undefined): Promise<Uint8Array | null> {
  try {
    const bytes = (await isFile(path)) ? await readFile(path, { signal: abortSignal }).catch(orMissing) : null;
    abortSignal?.throwIfAborted();
    return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    abortSignal?.throwIfAborted();
    throw error;
  }
}

/** Returns a range of a file's lines, or `null` if there is no file. Reads no further than the range reaches. */
async function linesOf(
  path: string,
  { encoding, startLine, endLine }: { encoding: string; startLine: unknown; endLine: unknown },
  abortSignal: AbortSignal | undefined,
): Promise<string | null> {
  const stream = await readable(path, abortSignal);
  if (stream === null) return null;
  const [first, last] = [lineOf('startLine', startLine), lineOf('endLine', endLine)];
  const decoder = decoding(encoding);
  const lines = new LineRange(first, last);
  const reader = stream.getReader();
  try {
    while (!lines.done) {
      const { done, value } = await reader.read();
      if (done) break;
      lines.push(decoder.push(value));
    }
  } finally {
    await reader.cancel();
  }
  abortSignal?.throwIfAborted();
  lines.push(decoder.finish());
  return lines.finish();
}

function lineOf(name: string, line: unknown): number | undefined {
  if (line !== undefined && !Number.isInteger(line)) throw invalid(`${name} must be a whole number, from 1`);
  return line as number | undefined;
}

function typeOf(found: Stats | Dirent): 'file' | 'directory' | 'other' {
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'directory' : 'other';
}
