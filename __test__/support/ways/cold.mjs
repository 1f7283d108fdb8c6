/** `agent-bash` with every command a cold start. */
import { bash as real } from '../../../dist/index.cjs';

export * from '../../../dist/index.cjs';

export async function bash(command, options) {
  return real(command, takes(options) ? { ...options, warm: false } : options);
}

/** A value that is not a plain object, or that sets `warm` itself, is for the real function to judge. */
function takes(options) {
  if (options === undefined) return true;
  return typeof options === 'object' && options !== null && !Array.isArray(options) && options.warm === undefined;
}
