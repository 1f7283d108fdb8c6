/** `agent-bash` with every command a cold start. */
import { bash as real } from '../../../dist/index.cjs';

export * from '../../../dist/index.cjs';

export async function bash(command, options) {
  return real(command, takes(options) ? { ...options, warm: false } : options);
}

/** What is no plain object, or says something about `warm` itself, is for the real one to judge. */
function takes(options) {
  if (options === undefined) return true;
  return typeof options === 'object' && options !== null && !Array.isArray(options) && options.warm === undefined;
}
