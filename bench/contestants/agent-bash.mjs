import { dirname } from 'node:path';

/** This package, found by its own name, as its users find it. */
export async function load() {
  const { bash } = await import('agent-bash');
  return {
    // No environment is passed: building it is part of what is measured.
    run: (command) => bash(command),
    async drain(command, file) {
      const { exitCode, truncation } = await bash(command, {
        timeoutMs: 600_000,
        // As by default, but beside the others' files and with a cap that lets all of it through.
        spill: { dir: dirname(file), maxBytes: 4 * 2 ** 30 },
      });
      const path = truncation.stdout?.path;
      if (exitCode !== 0 || !path) throw new Error(`agent-bash: exit code ${exitCode}, written to ${path}`);
      if (truncation.stdout.spillError) throw new Error(`agent-bash: ${truncation.stdout.spillError}`);
    },
  };
}
