/** `agent-bash` with a shell waiting for every command before it is given. */
import { bash as real, warmUp } from '../../../dist/index.cjs';

export * from '../../../dist/index.cjs';

export async function bash(command, options) {
  try {
    await warmUp(options);
  } catch {
    // The command itself reports invalid options.
  }
  return real(command, options);
}
