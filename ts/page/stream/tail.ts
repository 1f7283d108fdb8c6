import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Follow, OutputSink } from './sink.ts';

/** Most bytes at the end of a file that are read. */
const LAST_BYTES = 512 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Time in ms between two reads of a file that grows. */
const LOOK_MS = 250;

/** Flags that fail for a link and never block, even if a pipe has replaced the file. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Reads the end of a file, and follows it while it grows. */
export class FileTail implements Follow {
  readonly #path: string;
  readonly #grows: () => boolean;
  readonly #sink: OutputSink;
  #decoder = new TextDecoder();
  #at = 0;
  #started = false;
  #ended = false;
  #paused = false;
  #reading = false;
  #closed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(path: string, grows: () => boolean, sink: OutputSink) {
    this.#path = path;
    this.#grows = grows;
    this.#sink = sink;
    void this.#look();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#timer) void this.#look();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#reading || this.#closed || this.#ended) return;
    this.#reading = true;
    this.#timer = null;
    // This comes before the read, so text that is written last is not missed.
    const grows = this.#grows();
    try {
      const file = await open(this.#path, READ);
      try {
        await this.#read(file, grows);
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#ended = true;
      if (!this.#closed) this.#sink.none(`Its output cannot be read: ${(error as Error).message}.`);
      return;
    }
    this.#reading = false;
    if (this.#ended || this.#paused || this.#closed) return;
    this.#timer = setTimeout(() => void this.#look(), grows ? LOOK_MS : 0);
  }

  async #read(file: FileHandle, grows: boolean): Promise<void> {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error('it is not a regular file');
    const { size } = stat;
    let gap = 0;
    if (size - this.#at > LAST_BYTES) {
      gap = size - LAST_BYTES - this.#at;
      this.#at += gap;
      this.#decoder = new TextDecoder();
    }
    const piece = Buffer.alloc(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length, this.#at);
      if (this.#closed) return;
      const end = bytesRead === 0;
      this.#at += bytesRead;
      const text = this.#decoder.decode(piece.subarray(0, bytesRead), { stream: true });
      if (!end || !this.#started || !grows) {
        this.#sink.output({ text, gap, end: end && !grows }, !this.#started);
        this.#started = true;
      }
      this.#ended = end && !grows;
      gap = 0;
      if (end || this.#paused) return;
    }
  }
}
