/** What nobody has read may wait here, in bytes, before its writer is held back. */
const HELD_BYTES = 1024 * 1024;
/** The same of a command whose end somebody waits for, and after its end, when no more comes than its pipe has held. */
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

  /** Takes the next bytes; a promise is to be waited for before more come. What the reader has cancelled goes nowhere. */
  push(bytes: Uint8Array): void | Promise<void> {
    if (this.#closed) return;
    this.#controller.enqueue(bytes);
    if (!this.#isFull()) return;
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** Somebody waits for the writer's end, or it has come: more of it is taken, so that who waits need not read first. */
  waited(): void {
    this.#most = HELD_BYTES_WAITED;
    if (!this.#isFull()) this.#resume();
  }

  /** The end of the stream, after all that was pushed. */
  close(): void {
    if (!this.#closed) this.#controller.close();
    this.#closed = true;
  }

  #isFull(): boolean {
    return HELD_BYTES - (this.#controller.desiredSize ?? 0) >= this.#most;
  }
}
