/** Most characters of output that are sent at once. */
const BURST = 1024 * 1024;
/** Characters of output that are sent per second. Faster output has gaps. */
const PER_SECOND = 512 * 1024;
/** Characters that the queue holds even if no more may be sent now. */
const LEAST = 64 * 1024;

/** Output that waits for a tab: the newest text, with the number of bytes that were dropped. */
export class OutputQueue {
  #pieces: string[] = [];
  #length = 0;
  #gap = 0;
  #start = false;
  #end = false;
  #tokens = BURST;
  #at: number;

  constructor(now = performance.now()) {
    this.#at = now;
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#gap === 0 && !this.#start && !this.#end;
  }

  /** Whether the queue holds as much as may be sent soon. */
  get isFull(): boolean {
    return this.#length >= Math.max(LEAST, this.#tokens);
  }

  add(piece: { text: string; gap: number; end: boolean }, start: boolean): void {
    if (start) {
      this.#pieces = [];
      this.#length = 0;
      this.#gap = 0;
      this.#start = true;
    }
    if (piece.gap > 0) {
      // The text before a gap is older than the dropped bytes, so it is dropped, too.
      this.#drop(this.#length);
      this.#gap += piece.gap;
    }
    if (piece.text !== '') this.#pieces.push(piece.text);
    this.#length += piece.text.length;
    this.#end ||= piece.end;
    this.#drop(this.#length - Math.max(LEAST, this.#tokens));
  }

  /** Takes all output; `null` if there is none, or none may be sent now. */
  take(now = performance.now()): { text: string; gap: number; end: boolean; start: boolean } | null {
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#at) / 1_000) * PER_SECOND);
    this.#at = now;
    if (this.isEmpty || (this.#length > 0 && this.#tokens <= 0)) return null;
    const taken = { text: this.#pieces.join(''), gap: this.#gap, end: this.#end, start: this.#start };
    this.#tokens -= this.#length;
    this.#pieces = [];
    this.#length = 0;
    this.#gap = 0;
    this.#start = false;
    this.#end = false;
    return taken;
  }

  /** Drops the `count` oldest characters, and the rest of their line if it ends soon. */
  #drop(count: number): void {
    if (count <= 0) return;
    const text = this.#pieces.join('');
    const line = text.indexOf('\n', count - 1) + 1;
    const near = line > 0 && line - count < LEAST / 2 ? line : count;
    // A surrogate pair is not split.
    const at = /[\udc00-\udfff]/.test(text[near] ?? '') ? near + 1 : near;
    this.#gap += Buffer.byteLength(text.slice(0, at));
    this.#pieces = at < text.length ? [text.slice(at)] : [];
    this.#length = text.length - at;
  }
}
