/** nano-spawn with its defaults: it adds `env` to `process.env` and reads both streams into strings. */
export async function load() {
  const { default: spawn } = await import('nano-spawn');
  const run = (command, env) => spawn('bash', ['-c', command], { env, detached: true, stdin: 'ignore' });
  return {
    async run(command, env) {
      try {
        return { exitCode: 0, stdout: (await run(command, env)).stdout };
      } catch (error) {
        if (error.exitCode === undefined) throw error;
        return error;
      }
    },
    collect: async (command) => (await run(command)).stdout.length,
  };
}
