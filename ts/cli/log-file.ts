import { type FileHandle, open } from 'node:fs/promises';
import { type BackgroundRegistry, type BackgroundTask, type BashOptions, bash, type Target } from 'agent-bash';
import { Failure, readerGone } from './console.ts';
import { Growth } from './growth.ts';

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 10;

/** The log of a task. */
export interface Log {
  /** Resolves with its length in bytes. */
  size(): Promise<number>;
  /** Resolves with the position of the last lines. An unfinished line counts. */
  lastLines(count: number): Promise<number>;
  /** Reads from a position to the current end. Resolves with the new position. */
  read(from: number, show: (piece: Uint8Array) => Promise<void>): Promise<number>;
  /** Reports that it may have grown. */
  growth(): Pick<Growth, 'next' | 'wake' | 'close'>;
  close(): Promise<void>;
}

/** Opens a log of this machine. */
export async function logHere(path: string): Promise<Log> {
  const file = await open(path);
  return {
    size: async () => (await file.stat()).size,
    lastLines: (count) => lastLines(file, count),
    read: (from, show) => readOn(file, from, show),
    growth: () => new Growth(path),
    close: () => file.close(),
  };
}

/** Reads a log of this machine. */
async function readOn(file: FileHandle, place: number, show: (piece: Uint8Array) => Promise<void>): Promise<number> {
  const piece = Buffer.alloc(PIECE_BYTES);
  let at = place;
  while (!readerGone.signal.aborted) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    // Bytes that are not written yet must not be overwritten by the next piece.
    await show(Uint8Array.prototype.slice.call(piece, 0, bytesRead));
  }
  return at;
}

async function lastLines(file: FileHandle, count: number): Promise<number> {
  const { size } = await file.stat();
  if (count === 0) return size;
  const piece = Buffer.alloc(PIECE_BYTES);
  let left = count;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - PIECE_BYTES);
    const { bytesRead } = await file.read(piece, 0, end - start, start);
    // The newline at the very end closes the last line.
    const last = end === size ? bytesRead - 2 : bytesRead - 1;
    for (
      let at = last < 0 ? -1 : piece.lastIndexOf(NEWLINE, last);
      at >= 0;
      at = at === 0 ? -1 : piece.lastIndexOf(NEWLINE, at - 1)
    ) {
      left -= 1;
      if (left === 0) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

/** All that a log has comes as it is, once it was cleaned for the log. */
const AS_IT_IS: BashOptions = {
  ledger: false,
  spill: false,
  truncate: { keep: 'tail', maxLines: 1 },
  sanitize: { progress: 'keep' },
};

/** Prints the position of the last `$2` lines of a file, which may grow meanwhile. */
const PLACE_OF_LAST = 'all=$(wc -c < "$1"); echo $((all - $(head -c "$all" -- "$1" | tail -n "$2" | wc -c)))';

/** Opens a log of a target, whose own programs read it: it may be longer than a file that comes as a whole. */
export async function logThere(target: Target, registry: BackgroundRegistry, task: BackgroundTask): Promise<Log> {
  const { logPath, id } = task;
  if ((await target.stat(logPath)) === null) throw new Failure('ENOENT', `there is no file ${logPath} on ${target.id}`);
  const asked = async (command: string, args: string[], onOutput?: BashOptions['onOutput']) => {
    const signal = readerGone.signal;
    const options: BashOptions = {
      ...AS_IT_IS,
      target,
      args: [logPath, ...args],
      signal,
      ...(onOutput && { onOutput }),
    };
    const { exitCode, stdout, stderr } = await bash(command, options);
    if (exitCode !== 0 && !signal.aborted) throw new Failure('ERR_UNKNOWN', `${stderr.trim()} (exit code ${exitCode})`);
    return stdout;
  };
  return {
    size: async () => (await target.stat(logPath))?.bytes ?? 0,
    lastLines: async (count) => Number(await asked(PLACE_OF_LAST, [String(count)])),
    async read(from, show) {
      let at = from;
      await asked('tail -c "+$2" -- "$1"', [String(from + 1)], async ({ stream, text }) => {
        if (stream === 'stderr') return;
        const piece = Buffer.from(text);
        at += piece.length;
        await show(piece);
      });
      return at;
    },
    growth() {
      const growth = new Growth(null);
      const listener = (one: BackgroundTask) => (one.id === id ? growth.wake() : undefined);
      registry.on('output', listener);
      return {
        next: () => growth.next(),
        wake: () => growth.wake(),
        close: () => void registry.off('output', listener),
      };
    },
    async close() {},
  };
}
