import { open, readFile } from '../core/builtins.ts';
import { loadNative } from '../core/native.ts';
import { named } from './view.ts';

/** Bytes that are read at once for a range of lines. A recall gives less. */
const CHUNK = 256 * 1024;
/** Bytes that are searched at once. A recall gives more, so that no match of a part is left out. */
const PART = 32 * 1024;
/** The longest line that is searched, in bytes. A recall gives no longer lines. */
const LONGEST = 50 * 1024;
const NEWLINE = 0x0a;

/** A file with an output. */
interface Source {
  path: string;
  /** Whether it has bytes as a program wrote them, which are cleaned as the output of any command. */
  isRaw?: boolean;
}

/** Returns the whole text of a file. */
export async function allOf({ path, isRaw }: Source): Promise<string> {
  if (!isRaw) return await readFile(path, 'utf8');
  let text = '';
  for await (const part of cleaned(bytesOf(path, CHUNK))) text += part;
  return text;
}

/** Returns the lines `from` … `to` of a file, as the addon's `recalled` does for a text. */
export async function linesIn(source: Source, from: number, to: number): Promise<string> {
  const parts: Buffer[] = [];
  let [line, bytes] = [1, 0];
  for await (const chunk of chunksOf(source, CHUNK)) {
    let at = 0;
    while (line < from && at < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, at);
      if (newline === -1) at = chunk.length;
      else [line, at] = [line + 1, newline + 1];
    }
    if (at < chunk.length) parts.push(chunk.subarray(at));
    bytes += chunk.length - at;
    // One whole chunk is more than a recall gives, so that a character that is cut at its end is not shown.
    if (bytes >= CHUNK) break;
  }
  return loadNative().recalled(Buffer.concat(parts).toString(), 1, to - from + 1, null);
}

/** Returns the lines of a file that match, as the addon's `recalled` does of a text. */
export async function matchesIn(source: Source, pattern: string): Promise<string> {
  const { recalled } = loadNative();
  const search = (...parts: Buffer[]) =>
    named(() => recalled(Buffer.concat(parts).toString(), 1, Number.MAX_SAFE_INTEGER, pattern));
  let found = search();
  // The line that goes on in the next part, and its bytes. A line that is too long is not held.
  let line: Buffer[] = [];
  let bytes = 0;
  for await (const part of chunksOf(source, PART)) {
    const first = part.indexOf(NEWLINE) + 1;
    if (first > 0) {
      if (bytes + first <= LONGEST) found += search(...line, part.subarray(0, first));
      const last = part.lastIndexOf(NEWLINE) + 1;
      found += search(part.subarray(first, last));
      line = [];
      bytes = 0;
      if (found.length >= LONGEST) break;
    }
    const rest = part.subarray(part.lastIndexOf(NEWLINE) + 1);
    bytes += rest.length;
    line = bytes <= LONGEST ? [...line, rest] : [];
  }
  if (bytes <= LONGEST) found += search(...line);
  return recalled(found, 1, Number.MAX_SAFE_INTEGER, null);
}

/** The text of a file in parts, each in a buffer of its own. */
async function* chunksOf({ path, isRaw }: Source, size: number): AsyncGenerator<Buffer> {
  if (!isRaw) yield* bytesOf(path, size);
  else for await (const text of cleaned(bytesOf(path, size))) if (text !== '') yield Buffer.from(text);
}

/** The text that a program wrote, without what only a terminal shows. */
async function* cleaned(parts: AsyncGenerator<Buffer>): AsyncGenerator<string> {
  const text = new (loadNative().NativeText)(false, '{}', 0);
  for await (const part of parts) yield text.push(part);
  yield text.end();
}

/** The bytes of a file in parts, each in a buffer of its own. */
async function* bytesOf(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
