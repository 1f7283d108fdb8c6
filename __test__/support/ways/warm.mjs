/** `agent-bash` with a shell waiting for every command before it is given. */
import { bash as real, warmUp } from '../../../dist/index.cjs';

export * from '../../../dist/index.cjs';

/** Settles once the call before has its shell: of two calls at once, one would have that of the other. */
let turn = Promise.resolve();

export async function bash(command, options) {
  turn = turn.then(() => started(command, options));
  return (await turn).result;
}

/** In an object, so that nobody waits for the end of the command. */
async function started(command, options) {
  try {
    await warmUp(options);
  } catch {
    // The command itself reports invalid options.
  }
  return { result: real(command, options) };
}
