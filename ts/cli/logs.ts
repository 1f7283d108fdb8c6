import type { BackgroundRegistry, BackgroundTask } from 'agent-bash';
import { Failure, printJson, readerGone, write } from './console.ts';
import { type Log, logHere, logThere } from './log-file.ts';
import { type CommonOptions, findTask, newestTask, withRegistry } from './tasks.ts';

/** Most bytes that are printed as one JSON string. */
const JSON_BYTES = 64 * 1024 * 1024;

interface LogsOptions extends CommonOptions {
  follow?: boolean;
  lines?: number;
}

/**
 * `agent-bash logs [ID]`: prints the log, or its last lines. With --follow it continues until the task has ended. As
 * JSON: `{ task, output }`; with --follow one line `{ output }` per piece and `{ task }` at the end.
 */
export async function logs(name: string | undefined, options: LogsOptions): Promise<void> {
  await withRegistry(options, async (registry, target) => {
    const task = name === undefined ? newestTask(registry) : findTask(registry, name);
    const opened = target ? logThere(target, registry, task) : logHere(task.logPath);
    const log = await opened.catch((error) => {
      const { code, message } = Failure.of(error);
      throw new Failure(code, `the log of ${task.pid} cannot be read: ${message}`);
    });
    try {
      const from = options.lines === undefined ? 0 : await log.lastLines(options.lines);
      if (options.json && !options.follow) return await printJson({ task, output: await whole(log, from) });
      const text = new TextDecoder();
      const show = async (piece: Uint8Array) => {
        if (!options.json) return write(process.stdout, piece);
        // A piece may end inside a character.
        const output = text.decode(piece, { stream: true });
        if (output !== '') await printJson({ output });
      };
      const end = await log.read(from, show);
      if (!options.follow) return;
      await follow(registry, task, log, show, end);
      if (options.json) await printJson({ task: findTask(registry, task.id) });
    } finally {
      await log.close();
    }
  });
}

/** Prints new output until the task has ended or the reader is gone. */
async function follow(
  registry: BackgroundRegistry,
  { id }: BackgroundTask,
  log: Log,
  show: (piece: Uint8Array) => Promise<void>,
  from: number,
): Promise<void> {
  const growth = log.growth();
  let ended = false;
  const waiting = registry.wait(id, { signal: readerGone.signal }).finally(() => {
    ended = true;
    growth.wake();
  });
  // It is awaited below, unless a read fails before.
  waiting.catch(() => {});
  try {
    let place = from;
    while (!ended) {
      place = await log.read(place, show);
      await growth.next();
    }
    await waiting;
    await log.read(place, show);
  } finally {
    growth.close();
  }
}

async function whole(log: Log, from: number): Promise<string> {
  if ((await log.size()) - from > JSON_BYTES) {
    throw new Failure(
      'ERR_BASH_INVALID_ARG',
      'the log is too long for one JSON text: take its last lines with -n, or --follow',
    );
  }
  const pieces: Uint8Array[] = [];
  await log.read(from, async (piece) => void pieces.push(piece));
  return Buffer.concat(pieces).toString();
}
