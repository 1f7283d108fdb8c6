import type { Disk } from '../disk.ts';
import { invalid } from '../errors.ts';
import { locate } from '../file.ts';
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
export function sessionFiles(folder: string, disk: Disk): Reading & Writing & Entries {
  const pathOf: PathOf = (options) => locate(folder, checkedFile(options).path);
  return { ...reading(pathOf, disk), ...writing(pathOf, disk), ...entries(pathOf, disk) };
}

function reading(pathOf: PathOf, disk: Disk): Reading {
  return {
    readFile: async (options) => disk.readable(pathOf(options), options.abortSignal),

    readBinaryFile: async (options) => disk.bytes(pathOf(options), options.abortSignal),

    async readTextFile(options) {
      const { encoding = 'utf-8', startLine, endLine, abortSignal } = options;
      const path = pathOf(options);
      if (startLine !== undefined || endLine !== undefined) {
        return linesOf(disk, path, { encoding, startLine, endLine }, abortSignal);
      }
      const bytes = await disk.bytes(path, abortSignal);
      return bytes && decode(bytes, encoding);
    },
  };
}

function writing(pathOf: PathOf, disk: Disk): Writing {
  return {
    async writeFile(options) {
      const path = pathOf(options);
      const { content, abortSignal } = options;
      if (typeof content?.getReader !== 'function') throw invalid('content must be a ReadableStream');
      await disk.write(path, content, abortSignal);
    },

    async writeBinaryFile(options) {
      const path = pathOf(options);
      const { content, abortSignal } = options;
      if (!(content instanceof Uint8Array)) throw invalid('content must be a Uint8Array');
      await disk.write(path, content, abortSignal);
    },

    async writeTextFile(options) {
      const path = pathOf(options);
      const { content, encoding, abortSignal } = options;
      if (typeof content !== 'string') throw invalid('content must be a string');
      await disk.write(path, encode(content, encoding ?? 'utf-8'), abortSignal);
    },
  };
}

function entries(pathOf: PathOf, disk: Disk): Entries {
  return {
    stat: async (options) => disk.stat(pathOf(options)),
    listDirectory: async (options) => disk.list(pathOf(options)),
    deleteFile: async (options) => disk.delete(pathOf(options)),
  };
}

/** Returns a range of a file's lines, or `null` if there is no file. Reads no further than the range reaches. */
async function linesOf(
  disk: Disk,
  path: string,
  { encoding, startLine, endLine }: { encoding: string; startLine: unknown; endLine: unknown },
  abortSignal: AbortSignal | undefined,
): Promise<string | null> {
  const stream = await disk.readable(path, abortSignal);
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
