/** Choices that a number decides: the same seed gives the same scripts on every machine. */
export class Random {
  #state: number;

  constructor(seed: number, index = 0) {
    this.#state = (seed ^ Math.imul(index + 1, 0x9e3779b9)) >>> 0;
    // Seeds that are close to each other are not to begin alike.
    for (let i = 0; i < 4; i++) this.#next();
  }

  /** mulberry32: 32 bits of state are plenty for some ten thousand scripts. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `low` to `high`. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#next() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(0, from.length - 1)] as T;
  }

  /** One of several makers, each with its weight. */
  weighted<T>(from: readonly (readonly [number, () => T])[]): T {
    let left = this.#next() * from.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of from) {
      left -= weight;
      if (left < 0) return make();
    }
    return (from[from.length - 1] as readonly [number, () => T])[1]();
  }

  /** So many of what `make` gives. */
  many<T>(low: number, high: number, make: () => T): T[] {
    return Array.from({ length: this.int(low, high) }, make);
  }
}
