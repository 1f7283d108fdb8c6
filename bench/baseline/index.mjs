// Builds, starts and asks the baseline program (baseline.rs says what it does).
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('baseline.rs', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../target/bench/', import.meta.url));

/** Compiles the program unless this very source was compiled before; returns its path. */
function build() {
  const digest = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 12);
  const program = `${FOLDER}baseline-${digest}`;
  if (!existsSync(program)) {
    mkdirSync(FOLDER, { recursive: true });
    const unfinished = `${program}.${process.pid}`;
    execFileSync('rustc', ['--edition', '2024', '-O', '-o', unfinished, SOURCE], { stdio: ['ignore', 2, 2] });
    renameSync(unfinished, program);
  }
  return program;
}

/** One long-lived baseline; every command it starts gets exactly `env`. */
export class Baseline {
  #child;
  #lines;

  constructor(shell, env) {
    this.#child = spawn(build(), [shell], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async #ask(...words) {
    this.#child.stdin.write(`${words.join('\t')}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the baseline program ended');
    return value.split(' ').map(Number);
  }

  /** Milliseconds of each of `count` runs of `bash -c true`. */
  async spawn(count) {
    return (await this.#ask('spawn', count)).map((ns) => ns / 1e6);
  }

  /** The same of `bash -c command`, with a pause of `ms` before each. */
  async paced(count, ms, command) {
    return (await this.#ask('paced', count, ms, command)).map((ns) => ns / 1e6);
  }

  /** Milliseconds for the whole output of `bash -c command` into `file`, at most `size` bytes a read. */
  async drain(command, file, size) {
    const [ns] = await this.#ask('drain', file, size, command);
    return ns / 1e6;
  }

  /** Milliseconds for the whole output of `bash -c command` in a pseudo-terminal, and how many bytes that was. */
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
