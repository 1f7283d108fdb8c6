import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import type { BashRunner, ToolSandbox } from '../types.ts';
import { Ending } from './ending.ts';
import { writeInSandbox } from './files.ts';
import { checkSandboxOptions } from './options.ts';
import { Output } from './output.ts';
import { describeError, notStarted, type SandboxExit, type SandboxProcess, startInSandbox } from './process.ts';
import { confinementIn, lossIn, recordIn } from './record.ts';

/** Exit code for a command whose sandbox reports none. */
const UNTOLD = 255;

/**
 * Returns a replacement for `bash` that runs commands in a sandbox, with the same limits, cleaning, cutting, snapshots
 * and results. It resolves for every command that the sandbox started and rejects if nothing could be run.
 */
export function sandboxRunner(sandbox: ToolSandbox): BashRunner {
  return async (command, given = {}) => {
    checkSandboxOptions(command, given);
    const output = new Output(given);
    const { modeLimitsMs, defaultGraceMs } = innerOf(bash).facts().request;
    const limitMs = given.timeoutMs ?? modeLimitsMs[given.mode ?? 'default'];
    const ending = new Ending(limitMs, given.graceMs ?? defaultGraceMs, given.signal);
    const { idleTimeoutMs } = given;
    const began = performance.now();
    let pid = 0;
    let exit: SandboxExit = { exitCode: null, notes: [] };
    const snapshots = new Snapshots(given, () => ({ pid, ...output.tail(), durationMs: performance.now() - began }));
    try {
      if (ending.cause === null) {
        const process = await started(sandbox, prefixed(command, given), given, ending, output);
        pid = process?.pid ?? 0;
        if (process) ending.onEnd(() => process.kill());
        // A sandbox that gives its output with the exit does not show whether the command is silent.
        if (process?.streams && idleTimeoutMs !== undefined) ending.countSilence(idleTimeoutMs);
        exit = (process && (await ending.wait(end(process, ending)))) ?? { ...exit, notes: [NOT_CONFIRMED] };
      }
    } finally {
      ending.close();
      snapshots.close();
    }
    const durationMs = performance.now() - began;
    await ending.wait(output.end());
    const written = await writeInSandbox(sandbox, output.whole(), given, ending.cause !== null);
    const { notes, ...streams } = output.finish(written);
    const { cause } = ending;
    const [exitCode, exitNotes] =
      cause === null ? exitOf(exit.exitCode) : cause === 'aborted' ? [130, []] : [124, [NO_BACKGROUND]];
    const [record, recordNotes] = recorded(exit.record, given);
    return {
      ...streams,
      exitCode,
      status: cause ?? 'exited',
      signal: null,
      pid,
      durationMs,
      timeoutMs: ending.silentMs ?? limitMs,
      background: null,
      survivors: [],
      usage: { userMs: 0, systemMs: 0, maxRssBytes: 0 },
      confinement: confinementIn(exit.confinement),
      ...record,
      evidence: null,
      reused: null,
      view: null,
      target: null,
      draft: null,
      notes: [
        ...exit.notes,
        ...lossIn(exit.record),
        ...exitNotes,
        ...(ending.silentMs === null ? [] : [innerOf(bash).NativeText.noteOfSilence(ending.silentMs)]),
        ...notes,
        ...recordNotes,
      ],
    } satisfies BashResult;
  };
}

/** Returns a sandbox's record of the changes of a command, with the known files among them, and notes. */
function recorded(given: unknown, { knownFiles }: BashOptions) {
  const record = recordIn(given);
  const { stale, notes } = innerOf(bash).staleOf(record.receipt, knownFiles);
  return [{ ...record, stale }, notes] as const;
}

const NO_BACKGROUND = 'mode "background" does not work in this sandbox';
const NOT_CONFIRMED = 'the sandbox has not confirmed that the command has ended: it may still run there';

/** Starts the command. Resolves with `null` if it was asked to end before the sandbox reported the start. */
async function started(
  sandbox: ToolSandbox,
  command: string,
  { cwd, env }: BashOptions,
  ending: Ending,
  output: Output,
): Promise<SandboxProcess | null> {
  const starting = startInSandbox(sandbox, {
    command,
    cwd,
    env: Object.fromEntries(
      Object.entries(env ?? {}).flatMap(([name, value]) => (value == null ? [] : [[name, value]])),
    ),
    signal: ending.signal,
    onOutput: (stream, bytes) => ending.onOutput(output.push(stream, bytes)),
  });
  try {
    const process = await ending.wait(starting);
    // A command that starts late is ended at once.
    if (process === null) starting.then((late) => late.kill()).catch(() => {});
    return process;
  } catch (error) {
    if (ending.cause === null) throw notStarted(error);
    return { pid: 0, streams: false, ended: Promise.resolve({ exitCode: null, notes: [] }), kill: () => {} };
  }
}

async function end({ ended }: SandboxProcess, ending: Ending): Promise<SandboxExit> {
  try {
    return await ended;
  } catch (error) {
    // The sandbox reports an abort by rejecting.
    if (ending.cause !== null) return { exitCode: null, notes: [] };
    return { exitCode: null, notes: [`the sandbox has lost the command: ${describeError(error)}`] };
  }
}

function exitOf(exit: unknown): [exitCode: number, notes: string[]] {
  if (Number.isInteger(exit) && (exit as number) >= 0 && (exit as number) <= 255) return [exit as number, []];
  const it =
    exit === null || exit === undefined ? 'no exit code' : `the exit code ${describeError(describeValue(exit))}`;
  return [UNTOLD, [`the sandbox told ${it}, for which ${UNTOLD} stands here`]];
}

/** The value may be anything: a number with no meaning, or an object. */
function describeValue(exit: unknown): string {
  if (typeof exit === 'string') return JSON.stringify(exit.slice(0, 100));
  return typeof exit === 'object' || typeof exit === 'function' ? 'that is no number' : String(exit);
}

function prefixed(command: string, { prefix }: BashOptions): string {
  return prefix ? `${prefix} ${command}` : command;
}

/** Emits a snapshot whenever the output has changed, until the command exits. */
class Snapshots {
  readonly #timer: NodeJS.Timeout | undefined;
  #busy = false;
  #shown = JSON.stringify(['', '']);

  constructor(
    { onSnapshot, snapshotIntervalMs = innerOf(bash).facts().request.defaultSnapshotMs }: BashOptions,
    look: () => Parameters<NonNullable<BashOptions['onSnapshot']>>[0],
  ) {
    if (onSnapshot === undefined) return;
    this.#timer = setInterval(async () => {
      if (this.#busy) return;
      const snapshot = look();
      const describeValue = JSON.stringify([snapshot.stdout, snapshot.stderr]);
      if (describeValue === this.#shown) return;
      this.#shown = describeValue;
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
