import { BashError, type BashErrorCode } from 'agent-bash';
import { messageOf } from '../../core/listener.ts';
import { visible } from '../../core/visible.ts';

/** The part of a sandbox's message that is read, and the part that goes into a note, in UTF-16 units. */
const READ_CHARS = 4_000;
const NOTE_CHARS = 300;

/** Returns an error message of a sandbox as one short line without control characters. The message is untrusted. */
export function describeError(words: unknown): string {
  const line = visible(messageOf(words).slice(0, READ_CHARS)).replace(/\s+/g, ' ').trim();
  return line.length > NOTE_CHARS ? `${line.slice(0, NOTE_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
}

/** Returns an error of ours unchanged. Wraps any other, with `ERR_BASH_SPAWN` unless it has a code of ours. */
export function notStarted(error: unknown): BashError {
  if (error instanceof BashError) return error;
  const { code } = Object(error) as { code?: unknown };
  const ours = typeof code === 'string' && /^ERR_BASH_[A-Z_]{1,40}$/.test(code);
  return new BashError(ours ? (code as BashErrorCode) : 'ERR_BASH_SPAWN', describeError(error));
}
