import { spawnSync } from 'node:child_process';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/** A frame of zstd with one block that is not compressed (RFC 8878, 3). */
function rawZstd(content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  const block = Buffer.alloc(4);
  block.writeUInt32LE(content.length * 8 + 1);
  return Buffer.concat([Buffer.from('28b52ffda0', 'hex'), length, block.subarray(0, 3), content]);
}

const program =
  (name: string, ...args: string[]) =>
  (content: Buffer) => {
    const { status, stdout } = spawnSync(name, args, { input: content });
    return status === 0 ? stdout : content;
  };

/** Codings of bodies, by their names in headers. */
export const CODINGS: Record<string, (content: Buffer) => Buffer> = {
  gzip: (content) => gzipSync(content),
  'x-gzip': (content) => gzipSync(content, { level: 0 }),
  deflate: (content) => deflateSync(content),
  'deflate, bare': (content) => deflateRawSync(content),
  br: (content) => brotliCompressSync(content),
  zstd: rawZstd,
  'zstd, compressed': program('zstd', '-c', '-q'),
  'gzip, two members': (content) => Buffer.concat([gzipSync(content.subarray(0, 30)), gzipSync(content.subarray(30))]),
  'gzip, stored in small blocks': (content) => gzipSync(content, { level: 0, chunkSize: 64 }),
  'gzip, then plain': (content) => Buffer.concat([gzipSync(content), content]),
  'zstd, two frames': (content) => Buffer.concat([rawZstd(content.subarray(0, 30)), rawZstd(content.subarray(30))]),
};
