/** Unread bytes kept here before the writer is held back. */
const HELD_BYTES = 1024 * 1024;
/**
 * The same once a caller waits for the command's exit, and after the exit, when no more can follow than its pipe held.
 */
const HELD_BYTES_WAITED = 64 * 1024 * 1024;

/** A stream of bytes whose writer waits for its reader. */
export class ByteStream {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #closed = false;
  #most = HELD_BYTES;
  #resume: () => void = () => {};

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#resume(),
        cancel: () => {
          this.#closed = true;
          this.#resume();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    );
  }

  /**
   * Takes the next bytes. A returned promise must settle before the next call. Bytes are dropped after the reader has
   * cancelled.
   */
  push(bytes: Uint8Array): void | Promise<void> {
    if (this.#closed) return;
    this.#controller.enqueue(bytes);
    if (!this.#isFull()) return;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /**
   * Called when a caller waits for the writer's exit, or after it. More bytes are then accepted, so that the caller
   * need not read first.
   */
  waited(): void {
    this.#most = HELD_BYTES_WAITED;
    if (!this.#isFull()) this.#resume();
  }

  /** Ends the stream, after all bytes that were pushed. */
  close(): void {
    if (!this.#closed) this.#controller.close();
    this.#closed = true;
  }

  #isFull(): boolean {
    return HELD_BYTES - (this.#controller.desiredSize ?? 0) >= this.#most;
  }
}
