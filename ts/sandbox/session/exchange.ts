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
   * Changes the session. Calls from now on wait for `change`, and are for the session that it returns, or for the old
   * one if it returns none or rejects.
   */
  async turn(change: (old: LocalSandboxSession) => Promise<LocalSandboxSession | undefined>): Promise<void> {
    const before = this.session();
    const after = before.then(async (old) => (await change(old)) ?? old);
    this.#current = after.catch(() => before);
    // Calls report that there is no session.
    this.#current.catch(() => {});
    await after;
  }

  /** Ends all that runs. The session can be used further. */
  async end(): Promise<void> {
    await this.turn(async (old) => {
      await old[Symbol.asyncDispose]();
      return undefined;
    });
  }

  /** Lets all later calls reject. */
  close(error: Error): void {
    this.#closed = error;
  }
}
