import { script, style } from 'agent-bash:page-app';
import { BashError, bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { type OptionTableOf, PLAIN, unknownOption } from '../core/option-names.ts';
import { servePage } from './page.ts';
import type { Page, PageOptions } from './types.ts';

const OPTIONS: OptionTableOf<PageOptions> = { control: PLAIN, port: PLAIN };

/**
 * Serves a page on 127.0.0.1 that shows, live, what runs on this machine as this user: commands, tasks and terminals
 * of every process with this package, what waits for a person, drafts, and the ledger. With `control`, a person can
 * stop commands there, answer, approve, deny, undo, and commit or discard drafts. The server keeps the process alive
 * until `close()`.
 *
 * The first tab that opens `url` is signed in. Rejects with `ERR_BASH_INVALID_ARG` for an option that does not exist or
 * has a wrong value, and with `ERR_BASH_UNSUPPORTED` if the server cannot listen on the port. Never throws.
 *
 * @example const page = await startPage({ control: true });
 * @example console.log(page.url); // http://127.0.0.1:43817/#p2X…
 */
export async function startPage(options: PageOptions = {}): Promise<Page> {
  const { control = false, port = 0 } = checked(options);
  return servePage(control, port, () => innerOf(bash).hostsDirectory(), { script, style });
}

function checked(options: PageOptions): PageOptions {
  const { invalid } = innerOf(bash);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('options', options, 'an object');
  }
  const unknown = unknownOption('startPage', options, OPTIONS);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
  const { control, port } = options;
  if (control !== undefined && typeof control !== 'boolean') throw invalid('control', control, 'a boolean');
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw invalid('port', port, 'a whole number from 0 to 65535');
  }
  return options;
}
