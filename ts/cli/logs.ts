import { type FileHandle, open } from 'node:fs/promises';
import type { BackgroundRegistry, BackgroundTask } from 'agent-bash';
import { Failure, printJson, readerGone, write } from './console.ts';
import { Growth } from './growth.ts';
import { type CommonOptions, findTask, newestTask, withRegistry } from './tasks.ts';

const PIECE_BYTES = 64 * 1024;
/** Most bytes that are printed as one JSON string. */
const JSON_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;

interface LogsOptions extends CommonOptions {
  follow?: boolean;
  lines?: number;
}

/**
 * `agent-bash logs [ID]`: prints the log, or its last lines. With --follow it continues until the task has ended. As
 * JSON: `{ task, output }`; with --follow one line `{ output }` per piece and `{ task }` at the end.
 */
export async function logs(name: string | undefined, options: LogsOptions): Promise<void> {
  await withRegistry(options, async (registry) => {
    const task = name === undefined ? newestTask(registry) : findTask(registry, name);
    const file = await open(task.logPath).catch((error) => {
      const { code, message } = Failure.of(error);
      throw new Failure(code, `the log of ${task.pid} cannot be read: ${message}`);
    });
    try {
      const from = options.lines === undefined ? 0 : await lastLines(file, options.lines);
      if (options.json && !options.follow) return await printJson({ task, output: await whole(file, from) });
      const text = new TextDecoder();
      const show = async (piece: Uint8Array) => {
        if (!options.json) return write(process.stdout, piece);
        // A piece may end inside a character.
        const output = text.decode(piece, { stream: true });
        if (output !== '') await printJson({ output });
      };
      const end = await readOn(file, from, show);
      if (!options.follow) return;
      await follow(registry, task, (place) => readOn(file, place, show), end);
      if (options.json) await printJson({ task: findTask(registry, task.id) });
    } finally {
      await file.close();
    }
  });
}

/** Prints new output until the task has ended or the reader is gone. */
async function follow(
  registry: BackgroundRegistry,
  { id, logPath }: BackgroundTask,
  show: (place: number) => Promise<number>,
  from: number,
): Promise<void> {
  const growth = new Growth(logPath);
  let ended = false;
  const waiting = registry.wait(id, { signal: readerGone.signal }).finally(() => {
    ended = true;
    growth.wake();
  });
  try {
    let place = from;
    while (!ended) {
      place = await show(place);
      await growth.next();
    }
    await waiting;
    await show(place);
  } finally {
    growth.close();
  }
}

/** Reads from a position to the current end. Returns the new position. */
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

async function whole(file: FileHandle, from: number): Promise<string> {
  const { size } = await file.stat();
  if (size - from > JSON_BYTES) {
    throw new Failure(
      'ERR_BASH_INVALID_ARG',
      'the log is too long for one JSON text: take its last lines with -n, or --follow',
    );
  }
  const pieces: Uint8Array[] = [];
  await readOn(file, from, async (piece) => void pieces.push(piece));
  return Buffer.concat(pieces).toString();
}

/** Returns the position of the last lines. An unfinished line counts. */
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
