/** execa with its defaults: it reads both streams into strings. */
export async function load() {
  const { execa } = await import('execa');
  const common = { detached: true, stdin: 'ignore', reject: false };
  const run = (command, env) => execa('bash', ['-c', command], { ...common, env, extendEnv: env === undefined });
  return {
    async run(command, env) {
      const { exitCode, stdout, cause } = await run(command, env);
      if (cause && exitCode === undefined) throw cause;
      return { exitCode, stdout };
    },
    async drain(command, file) {
      await execa('bash', ['-c', command], { ...common, reject: true, stdout: { file }, buffer: false });
    },
    async collect(command) {
      const options = { ...common, reject: true, maxBuffer: 2 ** 30 };
      return (await execa('bash', ['-c', command], options)).stdout.length;
    },
  };
}
