/** `agent-bash` with every command a cold start. */
import { bash as real } from '../../../dist/index.cjs';
import { laidOver } from './options.mjs';

export * from '../../../dist/index.cjs';

export async function bash(command, options) {
  return real(command, laidOver(options, { warm: false }));
}
