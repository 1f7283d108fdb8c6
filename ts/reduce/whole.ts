import type { NativeView } from '../../native.cjs';
import { link, open, rm } from '../core/builtins.ts';
import type { BashResult } from '../result.ts';
import type { There } from '../target/handle.ts';

/** Bytes that are copied at once. */
const CHUNK = 256 * 1024;

/** A whole stream: its text, or the file that has it. */
type Source =
  | { text: string }
  | {
      path: string;
      bytes: number;
      /** Whether the file belongs to this package. Nothing writes to such a file again. */
      isOurs: boolean;
    };

/** A whole output: standard output, then standard error. */
export interface Whole {
  /** The streams that are not empty. */
  sources: Source[];
  bytes: number;
  /** The target of the command, which has the files. */
  there?: There | undefined;
}

/** Returns the whole of an output whose text is complete. */
export function wholeOfText({ stdout, stderr }: { stdout: string; stderr: string }): Whole {
  return wholeOf([{ text: stdout }, { text: stderr }]);
}

/** Returns the whole output of a command, even if the result has only a part. */
export function wholeOfResult(result: BashResult, draft: NativeView, there?: There): Whole {
  const source = (stream: 'stdout' | 'stderr'): Source => {
    const cut = result.truncation[stream];
    const text = cut ? draft.whole[stream] : result[stream];
    if (text !== null) return { text };
    return { path: cut?.path ?? '', bytes: cut?.totalBytes ?? 0, isOurs: cut?.artifactId == null };
  };
  return { ...wholeOf([source('stdout'), source('stderr')]), there };
}

/** Returns the part of a whole output that is on this machine. */
export function partHere({ sources, there }: Whole): Whole {
  return wholeOf(there ? sources.filter((source) => 'text' in source) : sources);
}

/** Returns whether a file that a command has made has all of an output. */
export function isOneFile({ sources: [source, more] }: Whole): boolean {
  return source !== undefined && 'path' in source && !more;
}

function wholeOf(streams: Source[]): Whole {
  const sources = streams.filter((source) => bytesOf(source) > 0);
  return { sources, bytes: sources.reduce((sum, source) => sum + bytesOf(source), 0) };
}

function bytesOf(source: Source): number {
  return 'text' in source ? Buffer.byteLength(source.text) : source.bytes;
}

/**
 * Writes a whole output to a new file that only this user can read. Rejects if it cannot be written whole, and then
 * leaves nothing. Files are never read into memory as a whole.
 */
export async function writeWhole(path: string, { sources }: Whole): Promise<void> {
  const [first, second] = sources;
  if (first && !second && 'path' in first && first.isOurs && (await isLinked(first, path))) return;
  const file = await open(path, 'wx', 0o600);
  try {
    let isOpen = false;
    for (const source of sources) {
      if (isOpen) await file.write('\n');
      isOpen = 'text' in source ? await writeText(file, source.text) : await copyFile(file, source);
    }
    await file.close();
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

type FileHandle = Awaited<ReturnType<typeof open>>;

/** Gives a file a second name. Returns whether this worked: a second name cannot be on another file system. */
async function isLinked({ path, bytes }: { path: string; bytes: number }, name: string): Promise<boolean> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    return false;
  }
  const file = await open(name, 'r');
  try {
    const { size, mode } = await file.stat();
    if (size === bytes && (mode & 0o777) === 0o600) return true;
  } finally {
    await file.close();
  }
  await rm(name, { force: true });
  return false;
}

/** Writes a text. Returns whether its last line has no newline. */
async function writeText(file: FileHandle, text: string): Promise<boolean> {
  await file.writeFile(text);
  return !text.endsWith('\n');
}

/** Copies a file that still has all its bytes. Returns whether its last line has no newline. */
async function copyFile(to: FileHandle, { path, bytes }: { path: string; bytes: number }): Promise<boolean> {
  const from = await open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    let copied = 0;
    let last = 0;
    for (;;) {
      const { bytesRead } = await from.read(buffer, 0, CHUNK);
      if (bytesRead === 0) break;
      last = buffer[bytesRead - 1] ?? 0;
      copied += bytesRead;
      await to.writeFile(buffer.subarray(0, bytesRead));
    }
    if (copied !== bytes) throw new Error(`${path} has ${copied} of ${bytes} bytes`);
    return last !== 0x0a;
  } finally {
    await from.close();
  }
}
