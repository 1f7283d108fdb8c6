import { StringDecoder } from 'node:string_decoder';
import { TextDecoder } from 'node:util';
import { invalid } from '../errors.ts';

/** Decodes bytes that come in pieces. */
export interface Decoding {
  push(bytes: Uint8Array): string;
  finish(): string;
}

/** Returns a decoder of a `Buffer` encoding, or of any encoding that `TextDecoder` knows. */
export function decoding(encoding: unknown): Decoding {
  if (isBuffers(encoding)) {
    const decoder = new StringDecoder(encoding);
    return { push: (bytes) => decoder.write(bytes), finish: () => decoder.end() };
  }
  try {
    const decoder = new TextDecoder(encoding as string, { ignoreBOM: true });
    return { push: (bytes) => decoder.decode(bytes, { stream: true }), finish: () => decoder.decode() };
  } catch {
    throw invalid(`encoding: ${JSON.stringify(encoding)} is not known; utf-8 is the default`);
  }
}

/** Decodes bytes in a `Buffer` encoding, or in any encoding that `TextDecoder` knows. */
export function decode(bytes: Uint8Array, encoding: unknown): string {
  if (isBuffers(encoding)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding);
  const decoder = decoding(encoding);
  return decoder.push(bytes) + decoder.finish();
}

/** Encodes text in a `Buffer` encoding. */
export function encode(text: string, encoding: unknown): Uint8Array {
  if (isBuffers(encoding)) return Buffer.from(text, encoding);
  throw invalid(
    `encoding: ${JSON.stringify(encoding)} cannot be written; use utf-8, utf16le, latin1, ascii, base64, base64url or hex`,
  );
}

function isBuffers(encoding: unknown): encoding is BufferEncoding {
  return typeof encoding === 'string' && Buffer.isEncoding(encoding);
}
