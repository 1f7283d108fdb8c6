import { TextDecoder } from 'node:util';
import { invalid } from '../errors.ts';

/** Text from bytes, in one of Buffer's encodings, or in any that `TextDecoder` knows. */
export function decode(bytes: Uint8Array, encoding: unknown): string {
  if (isBuffers(encoding)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
  try {
    return new TextDecoder(encoding as string, { ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(`encoding: ${JSON.stringify(encoding)} is not known; utf-8 is the default`);
  }
}

/** Bytes from text, in one of Buffer's encodings. */
export function encode(text: string, encoding: unknown): Uint8Array {
  if (isBuffers(encoding)) return Buffer.from(text, encoding);
  throw invalid(
    `encoding: ${JSON.stringify(encoding)} cannot be written; use utf-8, utf16le, latin1, ascii, base64, base64url or hex`,
  );
}

/** Some lines, from 1, both ends included, without what ends the last of them; all of the text when no end is given. */
export function linesOf(text: string, startLine: unknown, endLine: unknown): string {
  for (const [name, line] of [['startLine', startLine] as const, ['endLine', endLine] as const]) {
    if (line !== undefined && !Number.isInteger(line)) throw invalid(`${name} must be a whole number, from 1`);
  }
  if (startLine === undefined && endLine === undefined) return text;
  // As the file has them: all in one way.
  const end = ['\r\n', '\n', '\r'].find((each) => text.includes(each)) ?? '\n';
  const first = Math.max(1, (startLine as number | undefined) ?? 1);
  return text
    .split(end)
    .slice(first - 1, Math.max(0, (endLine as number | undefined) ?? Number.POSITIVE_INFINITY))
    .join(end);
}

function isBuffers(encoding: unknown): encoding is BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding);
}
