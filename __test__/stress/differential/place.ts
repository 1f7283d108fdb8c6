import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The files of the directory that a script begins in. */
export type Files = Record<string, string>;

/**
 * A directory in which the same script runs again and again, one run at a time. Each run finds it unchanged and under
 * the same name, since scripts can tell where they are.
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

  /** Runs `action` in the directory once no other uses it. */
  use<T>(action: (cwd: string) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      this.#restore();
      return action(this.cwd);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** The directory itself stays if possible: a warm shell may be in it. */
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
