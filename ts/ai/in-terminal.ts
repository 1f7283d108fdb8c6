import { BashError, type BashOptions, type BashResult, bash, PtySession } from 'agent-bash';
import { messageOf } from '../listener.ts';
import type { BashToolOptions } from './types.ts';

type Terminal = NonNullable<BashToolOptions['terminal']>;

/** The limits by kind of work, in ms: a terminal has none by itself. */
const DEFAULT_LIMIT_MS = 30_000;
const SLOW_LIMIT_MS = 900_000;

const AT_ITS_LIMIT =
  'a command in a terminal cannot go on in the background: it was ended at its limit; mode "background" would have started it there';

/**
 * The terminal that the commands of a tool run in; `undefined` where they run without one. What takes the place of `bash` takes its place,
 * too, and what is to read text that was given has no use for one. Throws `ERR_BASH_INVALID_ARG` for one that is none.
 */
export function terminalOf({ terminal, run, session, stdin, sandbox }: BashToolOptions): Terminal | undefined {
  if (terminal === undefined) return undefined;
  const { onStart } = Object(terminal) as Terminal;
  if (typeof terminal !== 'object' || terminal === null || (onStart !== undefined && typeof onStart !== 'function')) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'terminal: it is not an object of cols, rows, onStart');
  }
  const elsewhere = [run, session, stdin, sandbox].some((place) => place !== undefined);
  return elsewhere || process.env.AGENT_BASH_NO_PTY === '1' ? undefined : terminal;
}

/** Runs commands as `bash` does, each in a terminal that the host draws; without one, and with a note, where none can be had. */
export function terminalRunner(terminal: Terminal): typeof bash {
  return async (command, given = {}) => {
    // Nothing is started for a call that is over, and in the background nobody looks at a terminal.
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

/** Hands the terminal to the host in the turn in which it was started, so that no output is missed. */
function shown({ onStart }: Terminal, pty: PtySession, command: string, failed: (error: unknown) => void): void {
  try {
    // The type says void, but an asynchronous function is one, too.
    const answer: unknown = onStart?.(pty, { command });
    if (answer instanceof Promise) answer.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** What of the options of a command a terminal takes, and the limit that it would have without one. */
function terminalOptions(given: BashOptions): BashOptions {
  const { mode, onTimeout, registry, merge, warm, ...rest } = given;
  return { ...rest, timeoutMs: given.timeoutMs ?? (mode === 'slow' ? SLOW_LIMIT_MS : DEFAULT_LIMIT_MS) };
}

function withNotes(result: BashResult, notes: string[]): BashResult {
  return { ...result, notes: [...result.notes, ...notes] };
}
