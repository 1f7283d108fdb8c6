import { type BashError, type BashOptions, type BashResult, bash, PtySession } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import type { BashRunner, BashToolOptions } from '../types.ts';

type Terminal = NonNullable<BashToolOptions['terminal']>;

const AT_ITS_LIMIT =
  'a command in a terminal cannot go on in the background: it was ended at its limit; mode "background" would have started it there';

/**
 * Returns a replacement for `bash` that runs each command in a terminal drawn by the host. If no terminal can be
 * opened, the command runs without one, with a note.
 */
export function terminalRunner(terminal: Terminal): BashRunner {
  return async (command, given = {}) => {
    // An aborted call starts nothing, and no host draws a command in the background.
    if (given.signal?.aborted || given.mode === 'background') return bash(command, given);
    const { cols, rows } = terminal;
    const pty = new PtySession({
      ...terminalOptions(given),
      ...(cols !== undefined && { cols }),
      ...(rows !== undefined && { rows }),
    });
    try {
      await pty.start(command);
    } catch (error) {
      if ((error as Partial<BashError>).code !== 'ERR_BASH_UNSUPPORTED') throw error;
      return withNotes(await bash(command, given), [`the command ran without a terminal: ${messageOf(error)}`]);
    }
    const notes: string[] = [];
    shown(terminal, pty, command, (error) => notes.push(`onStart failed: ${messageOf(error)}`));
    const result = await pty.result();
    const moves = given.onTimeout === 'background' || (given.registry !== undefined && given.onTimeout !== 'kill');
    if (moves && result.status === 'timed-out') notes.push(AT_ITS_LIMIT);
    return withNotes(result, notes);
  };
}

/** Hands the terminal to the host in the same turn in which it was started, so that the host misses no output. */
function shown({ onStart }: Terminal, pty: PtySession, command: string, failed: (error: unknown) => void): void {
  try {
    // The type says void, but the callback may be asynchronous.
    const answer: unknown = onStart?.(pty, { command });
    if (answer instanceof Promise) answer.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Returns the options that a terminal takes, with the time limit that the command would have without one. */
function terminalOptions(given: BashOptions): BashOptions {
  const { mode, onTimeout, registry, merge, warm, ...rest } = given;
  return { ...rest, timeoutMs: given.timeoutMs ?? innerOf(bash).facts().request.modeLimitsMs[mode ?? 'default'] };
}

function withNotes(result: BashResult, notes: string[]): BashResult {
  return { ...result, notes: [...result.notes, ...notes] };
}
