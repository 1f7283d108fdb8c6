import type { BashOptions, BashResult, bash } from 'agent-bash';
import { startThere, type There } from './command.ts';
import { Ending } from './ending.ts';
import { Output } from './output.ts';
import { notStarted, said } from './said.ts';
import { checkThere } from './sandbox.ts';
import type { ToolSandbox } from './types.ts';
import { writeThere } from './whole.ts';

const DEFAULT_LIMIT_MS = 30_000;
const SLOW_LIMIT_MS = 900_000;
const DEFAULT_GRACE_MS = 2_000;
const DEFAULT_SNAPSHOT_MS = 250;
/** Stands for an exit code that a sandbox does not tell. */
const UNTOLD = 255;

/**
 * Runs commands as `bash` does, in a sandbox: with the same limits, cleaned and cut output, snapshots and results. It is a result whatever the
 * sandbox makes of a command that it has started; it rejects when nothing could be run.
 */
export function sandboxRunner(sandbox: ToolSandbox): typeof bash {
  return async (command, given = {}) => {
    checkThere(command, given);
    const output = new Output(given);
    const limitMs = given.timeoutMs ?? (given.mode === 'slow' ? SLOW_LIMIT_MS : DEFAULT_LIMIT_MS);
    const ending = new Ending(limitMs, given.graceMs ?? DEFAULT_GRACE_MS, given.signal);
    const began = performance.now();
    let pid = 0;
    let told: Told = { exitCode: null, notes: [] };
    const snapshots = new Snapshots(given, () => ({ pid, ...output.tail(), durationMs: performance.now() - began }));
    try {
      if (ending.cause === null) {
        const there = await started(sandbox, prefixed(command, given), given, ending, output);
        pid = there?.pid ?? 0;
        if (there) ending.onEnd(() => there.kill());
        told = (there && (await ending.wait(end(there, ending)))) ?? { ...told, notes: [NOT_CONFIRMED] };
      }
    } finally {
      ending.close();
      snapshots.close();
    }
    const durationMs = performance.now() - began;
    await ending.wait(output.end());
    const written = await writeThere(sandbox, output.whole(), given, ending.cause !== null);
    const { notes, ...streams } = output.finish(written);
    const { cause } = ending;
    const [exitCode, exitNotes] =
      cause === null ? exitOf(told.exitCode) : cause === 'aborted' ? [130, []] : [124, [NO_BACKGROUND]];
    const result: BashResult = {
      ...streams,
      exitCode,
      status: cause ?? 'exited',
      signal: null,
      pid,
      durationMs,
      timeoutMs: limitMs,
      background: null,
      survivors: [],
      usage: { userMs: 0, systemMs: 0, maxRssBytes: 0 },
      notes: [...told.notes, ...exitNotes, ...notes],
    };
    return result;
  };
}

const NO_BACKGROUND = 'mode "background" does not work in this sandbox';
const NOT_CONFIRMED = 'the sandbox has not confirmed that the command has ended: it may still run there';

interface Told {
  exitCode: unknown;
  notes: string[];
}

/** The command as the sandbox has started it; `null` when it was to end before that was known. */
async function started(
  sandbox: ToolSandbox,
  command: string,
  { cwd, env }: BashOptions,
  ending: Ending,
  output: Output,
): Promise<There | null> {
  const starting = startThere(sandbox, {
    command,
    cwd,
    env: Object.fromEntries(
      Object.entries(env ?? {}).flatMap(([name, value]) => (value == null ? [] : [[name, value]])),
    ),
    signal: ending.signal,
    hear: (stream, bytes) => output.push(stream, bytes),
  });
  try {
    const there = await ending.wait(starting);
    // One that is started after all is not left to itself.
    if (there === null) starting.then((late) => late.kill()).catch(() => {});
    return there;
  } catch (error) {
    if (ending.cause === null) throw notStarted(error);
    return { pid: 0, ended: Promise.resolve({ exitCode: null, notes: [] }), kill: () => {} };
  }
}

async function end({ ended }: There, ending: Ending): Promise<Told> {
  try {
    return await ended;
  } catch (error) {
    // That is how it says that it was told to end the command.
    if (ending.cause !== null) return { exitCode: null, notes: [] };
    return { exitCode: null, notes: [`the sandbox has lost the command: ${said(error)}`] };
  }
}

function exitOf(told: unknown): [exitCode: number, notes: string[]] {
  if (Number.isInteger(told) && (told as number) >= 0 && (told as number) <= 255) return [told as number, []];
  const it = told === null || told === undefined ? 'no exit code' : `the exit code ${said(shown(told))}`;
  return [UNTOLD, [`the sandbox told ${it}, for which ${UNTOLD} stands here`]];
}

/** Anything in words: it may be a number with no meaning, or a whole object. */
function shown(told: unknown): string {
  if (typeof told === 'string') return JSON.stringify(told.slice(0, 100));
  return typeof told === 'object' || typeof told === 'function' ? 'that is no number' : String(told);
}

function prefixed(command: string, { prefix }: BashOptions): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** Shows the command as it is now, until its end, each time that there is something new. */
class Snapshots {
  readonly #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #shown = JSON.stringify(['', '']);

  constructor(
    { onSnapshot, snapshotIntervalMs = DEFAULT_SNAPSHOT_MS }: BashOptions,
    look: () => Parameters<NonNullable<BashOptions['onSnapshot']>>[0],
  ) {
    if (onSnapshot === undefined) return;
    this.#timer = setInterval(async () => {
      if (this.#busy) return;
      const snapshot = look();
      const shown = JSON.stringify([snapshot.stdout, snapshot.stderr]);
      if (shown === this.#shown) return;
      this.#shown = shown;
      this.#busy = true;
      try {
        await onSnapshot(snapshot);
        this.#busy = false;
      } catch {
        this.close();
      }
    }, snapshotIntervalMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
