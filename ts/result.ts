import type {
  BackgroundTask,
  BashTruncation,
  BashUsage,
  Confinement,
  Receipt,
  Survivor,
  UndoCoverage,
} from '../native.cjs';
import type { EventOf } from './core/calls.ts';
import { keepKnown, type StaleFile, staleOf } from './core/stale.ts';
import type { Evidence, Reused } from './evidence/types.ts';
import type { View } from './reduce/types.ts';
import type { CommandOptions } from './types.ts';

/** The fields that every result has. */
export interface BashRun {
  /** Standard output as sanitized text, cut to its limits with a notice; with `merge` both streams. */
  stdout: string;
  /** Standard error, likewise; `''` with `merge`. */
  stderr: string;
  /**
   * The signal that really ended the shell (`'SIGKILL'`; `'SIG35'` for a signal without a name), after a time limit
   * too. `null` if the shell ended with an exit code.
   */
  signal: string | null;
  /** Process id of the shell, also its process group id; 0 if nothing was started. */
  pid: number;
  /** From the start of the shell to its end, in ms. */
  durationMs: number;
  /** The time limit that applied, in ms, counted from the start of the process; `null` if there was none. */
  timeoutMs: number | null;
  /** How each stream was cut. */
  truncation: BashTruncation;
  /**
   * Processes that the command left running after its shell ended. They go on. With a registry, those that still hold
   * the command's pipes become one task, whose log has the rest of their output. Without one their later writes go
   * nowhere.
   */
  survivors: Survivor[];
  /** The resources that its processes used. Those that it left running count up to the end of the shell. */
  usage: BashUsage;
  /** The parts that its confinement held, and the denials; `null` if it was not confined. */
  confinement: Confinement | null;
  /**
   * Permanent and unique name of the run: the value of `AGENT_BASH_ID` in the environment of its processes, and the
   * argument of `undo`.
   */
  runId: string;
  /** The changes of the command; `null` without the options `receipt` and `undo`, and if nothing was started. */
  receipt: Receipt | null;
  /** How much `undo(runId)` takes back; `null` if the run cannot be undone. */
  undo: UndoCoverage | null;
  /**
   * What the parts of the command returned. `null` without the option `evidence`, if the command goes on in the
   * background, and if it ran in a sandbox.
   */
  evidence: Evidence | null;
  /** The run whose result this is, with the option `reuse`; `null` if the command ran. */
  reused: Reused | null;
  /**
   * The files of the option `knownFiles` that the command changed, by its receipt, at most 100. `[]` without the option
   * or without a receipt.
   */
  stale: StaleFile[];
  /**
   * The text for a model with the option `reduce`. `null` without it, if nothing was gained, and if the command goes on
   * in the background. `stdout` and `stderr` are the same in any case.
   */
  view: View | null;
  /** Facts for the caller or the model, one per line. */
  notes: string[];
  /** The name of the target that ran the command, whose paths and pids these are; `null`: this machine. */
  target: string | null;
  /** The id of the draft in which the command ran; `null` outside of drafts. */
  draft: string | null;
}

/** The result of a command that has ended. */
export interface BashEnded extends BashRun {
  /**
   * How the command ended: by itself, by a signal, at its time limit, or because its `signal` was aborted.
   */
  status: 'exited' | 'signaled' | 'timed-out' | 'aborted';
  /** 0 … 255; 128 + n after signal n, 124 after the time limit, 130 after an abort. */
  exitCode: number;
  /** `null`: the command is not a task. */
  background: null;
}

/** The result of a command that goes on as a task, with its output so far. */
export interface BashBackgrounded extends BashRun {
  /** The command started in the background, or moved there at its limit. */
  status: 'backgrounded';
  /** `null`: the command has not ended. */
  exitCode: null;
  /** The task that the command is from now on. */
  background: BackgroundTask;
}

/**
 * The result of a command whose end is not known, with the output that `onOutput` has had. Only a command on a target
 * has it: the target was lost, or closed, while the command ran.
 */
export interface BashLost extends BashRun {
  /** It is not known how the command ended. */
  status: 'lost';
  /** `null`: it is not known. */
  exitCode: null;
  /** `null`: it is not known. */
  signal: null;
  /** `null`: the command is not a task. */
  background: null;
}

/**
 * The end and the output of a command, a union on `status`. Plain own-property data: `structuredClone` and a JSON
 * round trip keep it whole.
 */
export type BashResult = BashEnded | BashBackgrounded | BashLost;

/** The result that an event has as JSON, with the known files that the run changed. Its view is still a draft. */
export function resultOf(
  { stdout, stderr, rest }: EventOf<'result'>,
  { knownFiles, registry }: Pick<CommandOptions, 'knownFiles' | 'registry'>,
): BashResult {
  const told = JSON.parse(rest) as Omit<BashResult, 'stdout' | 'stderr' | 'stale'>;
  const { stale, notes } = staleOf(told.receipt, knownFiles);
  if (told.background && registry) keepKnown(registry, told.background, knownFiles);
  return { stdout, stderr, ...told, stale, notes: [...told.notes, ...notes] } as BashResult;
}
