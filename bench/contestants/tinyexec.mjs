/** tinyexec with its defaults: it adds `env` to `process.env` and reads both streams into strings. */
export async function load() {
  const { x } = await import('tinyexec');
  const run = (command, env) =>
    x('bash', ['-c', command], { nodeOptions: { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] } });
  return { run, collect: async (command) => (await run(command)).stdout.length };
}
