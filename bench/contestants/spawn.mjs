import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

const start = (command, env) =>
  spawn('bash', ['-c', command], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });

const closed = (child) =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });

/** `child_process.spawn` with the least code around it. */
export async function load() {
  return {
    async run(command, env) {
      const child = start(command, env);
      const exitCode = closed(child);
      let stdout = '';
      // Without a free descriptor there are no streams, only an error.
      child.stdout?.setEncoding('utf8').on('data', (text) => {
        stdout += text;
      });
      child.stderr?.resume();
      return { exitCode: await exitCode, stdout };
    },
    async drain(command, file) {
      const child = start(command);
      const exitCode = closed(child);
      child.stderr.resume();
      await pipeline(child.stdout, createWriteStream(file, { mode: 0o600 }));
      if ((await exitCode) !== 0) throw new Error(`spawn: exit code ${await exitCode}`);
    },
  };
}
