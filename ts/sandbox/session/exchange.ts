import type { LocalSandboxSession, SandboxSession } from './types.ts';

const METHODS = [
  ...(['run', 'spawn', 'readFile', 'readBinaryFile', 'readTextFile', 'writeFile', 'writeBinaryFile'] as const),
  ...(['writeTextFile', 'stat', 'listDirectory', 'deleteFile'] as const),
];

/** A session whose place another one can take, with other options. */
export class Exchange {
  /** The members of a `SandboxSession`. Calls reach the session of their time. */
  readonly face: SandboxSession;
  #current: Promise<LocalSandboxSession>;
  #closed: Error | null = null;

  constructor(first: LocalSandboxSession) {
    this.#current = Promise.resolve(first);
    const methods = METHODS.map((name) => [name, async (given: never) => (await this.session())[name](given)]);
    this.face = { description: first.description, ...Object.fromEntries(methods) };
  }

  /** Resolves with the session of now. Rejects if none will follow. */
  async session(): Promise<LocalSandboxSession> {
    const session = await this.#current;
    if (this.#closed) throw this.#closed;
    return session;
  }

  /**
   * Ends all that runs. Calls from now on wait for that and for `next`, whose session is theirs; without one, and if
   * this rejects, they stay with the old one.
   */
  async end(next: () => Promise<LocalSandboxSession | undefined> = async () => undefined): Promise<void> {
    const before = this.#current;
    const after = before.then(async (old) => {
      await old[Symbol.asyncDispose]();
      return (await next()) ?? old;
    });
    this.#current = after.catch(() => before);
    await after;
  }

  /** Lets all later calls reject. */
  close(error: Error): void {
    this.#closed = error;
  }
}
