import { BashError } from 'agent-bash';
import { messageOf } from '../../listener.ts';
import { visible } from '../visible.ts';

/** What is looked at of the words of a sandbox, in UTF-16 units, and what of them stands in a note. */
const LOOKED_AT = 4_000;
const TOLD = 300;

/** What a sandbox says of something that went wrong, as a line that hides nothing and is never long: nobody knows who wrote it. */
export function said(words: unknown): string {
  const line = visible(messageOf(words).slice(0, LOOKED_AT)).replace(/\s+/g, ' ').trim();
  return line.length > TOLD ? `${line.slice(0, TOLD - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
}

/** An error of ours as it is; of anything else what was said, `ERR_BASH_SPAWN` where it has no code of ours. */
export function notStarted(error: unknown): BashError {
  if (error instanceof BashError) return error;
  const { code } = Object(error) as { code?: unknown };
  const ours = typeof code === 'string' && /^ERR_BASH_[A-Z_]{1,40}$/.test(code);
  return new BashError(ours ? code : 'ERR_BASH_SPAWN', said(error));
}
