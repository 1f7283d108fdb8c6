// Builds, starts and queries the baseline program. See baseline.rs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from '../built.mjs';

const SOURCE = fileURLToPath(new URL('baseline.rs', import.meta.url));

/** A long-lived baseline process. All its commands have exactly the environment `env`. */
export class Baseline {
  #child;
  #lines;

  constructor(shell, env) {
    this.#child = spawn(build(SOURCE, ['rustc', '--edition', '2024', '-O']), [shell], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async #ask(...words) {
    this.#child.stdin.write(`${words.join('\t')}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the baseline program exited');
    return value.split(' ').map(Number);
  }

  /** Returns the milliseconds of each of `count` runs of `bash -c true`. */
  async spawn(count) {
    return (await this.#ask('spawn', count)).map((ns) => ns / 1e6);
  }

  /** Does the same for `bash -c command`, with a pause of `ms` before each run. */
  async paced(count, ms, command) {
    return (await this.#ask('paced', count, ms, command)).map((ns) => ns / 1e6);
  }

  /** Returns the milliseconds to copy the output of `bash -c command` into `file`, at most `size` bytes per read. */
  async drain(command, file, size) {
    const [ns] = await this.#ask('drain', file, size, command);
    return ns / 1e6;
  }

  /** Returns the milliseconds to read the output of `bash -c command` in a pseudo-terminal, and its size in bytes. */
  async terminal(command) {
    const [ns, bytes] = await this.#ask('terminal', command);
    return { total: ns / 1e6, bytes };
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin.end();
    await once(this.#child, 'exit');
  }
}
