import { open, readFile } from '../core/builtins.ts';
import { settled } from '../core/calls.ts';
import { loadNative } from '../core/native.ts';
import { BashError } from '../errors.ts';
import type { There } from '../target/handle.ts';

/** Bytes that are read at once. */
const CHUNK = 256 * 1024;
/** The number of a last line that no output has. */
const NO_LINE = Number.MAX_SAFE_INTEGER;

/** A file with an output, or with a stream of it. */
export interface Part {
  path: string;
  /** Whether it has bytes as a program wrote them, which are cleaned as the output of any command. */
  isRaw?: boolean;
  /** The target that has the file. */
  there?: There | undefined;
  /** The number of its lines. Left out: this is the only part. */
  lines?: number;
}

/** Returns the whole text of an output. */
export async function allOf(parts: Part[]): Promise<string> {
  return joined(await Promise.all(parts.map(textOf)));
}

/** Returns the lines `from` … `to` of an output, at most 50 KiB of them. */
export async function linesIn(parts: Part[], from: number, to: number): Promise<string> {
  const texts: string[] = [];
  let before = 0;
  for (const part of parts) {
    const [first, last] = [Math.max(from - before, 1), Math.min(to - before, part.lines ?? NO_LINE)];
    if (first <= last) texts.push(await recalled(part, first, last, null));
    before += part.lines ?? 0;
  }
  return bounded(texts);
}

/** Returns the lines of an output that match, at most 50 KiB of them. */
export async function matchesIn(parts: Part[], pattern: string): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) texts.push(await recalled(part, 1, NO_LINE, pattern));
  return bounded(texts);
}

function bounded(texts: string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : loadNative().recalled(joined(texts));
}

/** Joins streams, each from a line of its own. */
function joined(texts: string[]): string {
  return texts.reduce((before, text) => (before === '' || before.endsWith('\n') ? before : `${before}\n`) + text, '');
}

async function recalled({ path, isRaw, there }: Part, from: number, to: number, pattern: string | null) {
  const answer = await settled({
    begin: (way) => (there?.native ?? way).recall(path, isRaw ?? false, from, to, pattern),
    kind: 'told',
    answer: (event) => JSON.parse(event.answer) as string | null | { unreadable: string },
    target: there?.id,
  });
  if (typeof answer === 'string') return answer;
  throw unreadable(path, answer?.unreadable ?? 'it is gone');
}

function unreadable(path: string, why: string): BashError {
  return new BashError('ERR_BASH_UNKNOWN_OUTPUT', `${path} cannot be read: ${why}`);
}

/**
 * Returns the text of a file. One on a target is cleaned again, as all that it tells, and refused if it is longer than
 * `Target.readFile` allows.
 */
async function textOf({ path, isRaw, there }: Part): Promise<string> {
  if (!isRaw && !there) return await readFile(path, 'utf8');
  const cleaner = new (loadNative().NativeText)(false, '{}', 0);
  let text = '';
  if (there) text = cleaner.push(await bytesThere(there, path));
  else for await (const bytes of bytesOf(path)) text += cleaner.push(bytes);
  return text + cleaner.end();
}

async function bytesThere({ id, native }: There, path: string): Promise<Uint8Array> {
  const bytes = await settled({
    begin: () => native.readFile(path),
    kind: 'read',
    answer: (event) => event.bytes,
    target: id,
  });
  if (!bytes) throw unreadable(path, 'it is gone');
  return bytes;
}

/** The bytes of a file in parts, each in a buffer of its own. */
async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Removes a file of a target that nobody else knows of. It stays if the target is lost or closed before. */
export function removeThere({ id, native }: There, path: string): void {
  const removed = settled({
    begin: () => native.remove(path, false),
    kind: 'told',
    answer: () => undefined,
    target: id,
    isIdle: true,
  });
  removed.catch(() => {});
}
