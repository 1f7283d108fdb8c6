import { Writable } from 'node:stream';

/** Makes a stream of Node for the standard input of a process. */
export function writableTo(write: (bytes: Uint8Array) => Promise<unknown>, end: () => Promise<unknown>): Writable {
  return new Writable({
    write: (chunk: Uint8Array, _, done) => void write(chunk).then(() => done(), done),
    final: (done) => void end().then(() => done(), done),
  });
}
