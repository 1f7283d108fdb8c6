import { execFile } from 'node:child_process';

/**
 * `child_process.execFile`: it returns both streams as strings. It ignores `detached`, so it cannot start a session.
 */
export async function load() {
  const run = (command, env, maxBuffer = 2 ** 20) =>
    new Promise((resolve, reject) => {
      execFile('bash', ['-c', command], { env, maxBuffer }, (error, stdout) => {
        if (error && typeof error.code !== 'number') reject(error);
        else resolve({ exitCode: error?.code ?? 0, stdout });
      });
    });
  return { run, collect: async (command) => (await run(command, undefined, 2 ** 30)).stdout.length };
}
