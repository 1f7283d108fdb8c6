import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { BackgroundTask } from 'agent-bash';

/** Bytes of a log that are read to count its lines: a few milliseconds' worth. */
const COUNTED_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
const NEWLINE = 10;
/** The line that ends the log of an ended task. */
const CLOSING = /\[background process ([^\n]*)\]\n?$/;
const CLOSING_BYTES = 512;

/** Returns how a task ended, in the words that close its log. */
export function closingWords({ logPath, state, exitCode, signal, target }: BackgroundTask): string {
  // The log of a task of a target is there.
  const end = target === null ? readAt(logPath, -CLOSING_BYTES, CLOSING_BYTES) : null;
  const written = CLOSING.exec(end?.toString() ?? '')?.[1];
  if (written !== undefined) return written;
  if (state === 'exited') return exitCode === 0 ? 'completed' : `failed: exit code ${exitCode}`;
  return state === 'killed' ? `killed: ${signal ?? `exit code ${exitCode}`}` : state;
}

/**
 * Counts the lines that an ended task wrote after this byte of its log. Returns `'more than N'` past 8 MiB and `null`
 * without a log on this machine.
 */
export function linesFrom({ logPath, target }: BackgroundTask, cursor: number): string | null {
  if (target !== null) return null;
  let lines = 0;
  let end: Buffer = Buffer.alloc(0);
  for (let read = 0; read < COUNTED_BYTES; read += PIECE_BYTES) {
    const piece = readAt(logPath, cursor + read, PIECE_BYTES);
    if (piece === null) return null;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) lines += 1;
    end = Buffer.concat([end, piece]).subarray(-CLOSING_BYTES);
    if (piece.length < PIECE_BYTES) return `${lines - (CLOSING.test(end.toString()) ? 1 : 0)}`;
  }
  return `more than ${lines}`;
}

/** Reads bytes of a file, from its end if `place` is negative. Returns `null` if it cannot be read. */
function readAt(path: string, place: number, length: number): Buffer | null {
  let file: number;
  try {
    // Opening must not block, whatever kind of file it is.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  try {
    const from = place < 0 ? Math.max(0, fstatSync(file).size + place) : place;
    const piece = Buffer.alloc(length);
    return piece.subarray(0, readSync(file, piece, 0, length, from));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
