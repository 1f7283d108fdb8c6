import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What stands in the folder that a script begins in. */
export type Files = Record<string, string>;

/**
 * A folder that the same script runs in again and again, one run at a time: each finds it as the first did, under the same
 * name, since scripts can tell where they are.
 */
export class Place {
  readonly base = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  /** Deep enough for a script that goes up. */
  readonly cwd = join(this.base, 'up', 'and', 'up', 'here');
  #files: Files;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(files: Files = {}) {
    this.#files = files;
  }

  /** Runs `action` in the folder once no other uses it. */
  use<T>(action: (cwd: string) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      this.#restore();
      return action(this.cwd);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** The folder itself stays where it can: a shell may be waiting in it. */
  #restore(): void {
    mkdirSync(this.cwd, { recursive: true });
    for (const name of readdirSync(this.cwd)) rmSync(join(this.cwd, name), { recursive: true, force: true });
    for (const [name, text] of Object.entries(this.#files)) {
      mkdirSync(join(this.cwd, name, '..'), { recursive: true });
      writeFileSync(join(this.cwd, name), text);
    }
  }

  remove(): void {
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }
}
