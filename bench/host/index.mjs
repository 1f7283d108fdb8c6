// A fresh Node process for contestants, with its own heap and limits. It is idle while others are measured.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('main.mjs', import.meta.url));

export class Host {
  #child;
  #waiting = null;

  /** `limit`: maximum number of descriptors. `quiet`: hides the output of a crash. */
  constructor({ limit, quiet = false } = {}) {
    const node = [process.execPath, '--expose-gc', MAIN];
    const [file, ...args] = limit ? ['bash', '-c', `ulimit -n ${limit} && exec "$@"`, 'bash', ...node] : node;
    this.#child = spawn(file, args, { stdio: ['ignore', quiet ? 'ignore' : 2, quiet ? 'ignore' : 2, 'ipc'] });
    this.#child.on('message', ({ value, error }) => this.#settle(error, value));
    this.#child.on('error', (error) => this.#settle(error.message));
    this.#child.on('exit', (code, signal) => this.#settle(`the host process exited: ${signal ?? code}`));
  }

  #settle(error, value) {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (error) waiting?.reject(new Error(error));
    else waiting?.resolve(value);
  }

  /** Runs one task of tasks.mjs in the host, one at a time. */
  ask(task, ...args) {
    return new Promise((resolve, reject) => {
      if (this.#waiting) return reject(new Error('the host process is busy'));
      this.#waiting = { resolve, reject };
      this.#child.send({ task, args }, (error) => error && this.#settle(error.message));
    });
  }

  stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    return new Promise((resolve) => {
      this.#child.once('exit', resolve);
      this.#child.disconnect();
    });
  }
}

/** Starts a host, passes it to `use`, and stops it in every case. */
export async function withHost(options, use) {
  const host = new Host(options);
  try {
    return await use(host);
  } finally {
    await host.stop();
  }
}
