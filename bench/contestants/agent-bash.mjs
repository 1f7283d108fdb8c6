import { dirname } from 'node:path';

/** agent-bash, imported by its name as users do. */
export async function load() {
  const { bash } = await import('agent-bash');
  return {
    // No environment is passed, because building it is part of the measurement.
    run: (command) => bash(command),
    async drain(command, file) {
      const { exitCode, truncation } = await bash(command, {
        timeoutMs: 600_000,
        // The defaults, except for the directory of the other contestants and a cap above the size of the output.
        spill: { dir: dirname(file), maxBytes: 4 * 2 ** 30 },
      });
      const path = truncation.stdout?.path;
      if (exitCode !== 0 || !path) throw new Error(`agent-bash: exit code ${exitCode}, written to ${path}`);
      if (truncation.stdout.spillError) throw new Error(`agent-bash: ${truncation.stdout.spillError}`);
    },
  };
}
