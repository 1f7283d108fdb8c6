import { type BashOptions, TRUNCATE, type Truncate } from 'agent-bash';
import { type Executor, executorOf } from '../executor.ts';
import { offersFresh } from '../options.ts';
import { overriddenOptions, sandboxDirectory } from '../sandbox/options.ts';
import {
  ACCESS_FIELD,
  FRESH_FIELD,
  INPUT_FIELDS,
  ignoredInput,
  LONGEST_LIMIT_MS,
  longestBackgroundMs,
  SHORTEST_LIMIT_MS,
  WAIT_FIELDS,
} from '../schema.ts';
import { callFolder, runOptions, toolFolder } from '../setup.ts';
import type { BashToolInput, BashToolOptions } from '../types.ts';
import { type LineLimit, lineLimits, trailingLimit, truncateFor } from './line-limits.ts';

/** Inputs that only make sense for a command that runs to its end. */
const LINE_FIELDS: readonly string[] = ['head', 'tail'];

/** The command and the options of one call. */
export interface CallPlan {
  /** The command without the trailing pipe that became a line limit. */
  command: string;
  executor: Executor;
  options: BashOptions;
  limits: LineLimit[];
  /** Whether there was such a pipe. */
  isProducer: boolean;
  /** Notes on inputs that were changed or ignored. */
  notes: string[];
}

/** Combines the model's input with the tool's options. */
export function planCall(command: string, input: BashToolInput, options: BashToolOptions): CallPlan {
  const mode = input.mode ?? options.mode;
  const background = mode === 'background';
  // In a single stream (merged, or a terminal's) the lines that passed the pipe cannot be distinguished from the
  // others. In the background the pipe shapes the log, so it stays.
  const executor = executorOf(options);
  const oneStream = options.merge || executor.kind === 'terminal';
  const trailing = oneStream || background ? null : trailingLimit(command);
  const limits = background ? [] : lineLimits(trailing, input);
  const { timeoutMs, notes } = timeLimit(input.timeout_ms, background ? longestBackgroundMs() : LONGEST_LIMIT_MS);
  const asks = options.onAccess !== undefined;
  const reuses = offersFresh(options);
  const known = [...INPUT_FIELDS, ...(asks ? [ACCESS_FIELD] : []), ...(reuses ? [FRESH_FIELD] : [])];
  const useless = background ? [...WAIT_FIELDS, ...LINE_FIELDS] : WAIT_FIELDS;
  const taken = (field: string) => known.includes(field) && !useless.includes(field);
  const ignored = Object.entries(input).filter(([field, value]) => !taken(field) && value != null);
  notes.push(
    ...ignoredInput(
      ignored.map(([field]) => field),
      known,
    ),
  );
  const there = executor.kind === 'sandbox';
  if (there) notes.push(...overriddenOptions(options));
  const first = limits[0];
  return {
    command: trailing?.command ?? command,
    executor,
    options: {
      ...runOptions(options),
      cwd: directoryOf(options, executor, input.cwd),
      mode,
      timeoutMs: timeoutMs ?? options.timeoutMs,
      ...(reuses && input.fresh && { fresh: true }),
      // Servers are silent.
      ...(background && { idleTimeoutMs: undefined }),
      truncate: first === undefined ? options.truncate : truncateFor(first, ownTruncate(options)),
    },
    limits,
    isProducer: trailing !== null,
    notes,
  };
}

/** Returns the directory in which the command starts. `undefined`: the sandbox's own, or where the session is. */
function directoryOf(
  options: BashToolOptions,
  { kind }: Executor,
  asked: string | null | undefined,
): string | undefined {
  if (kind === 'sandbox') return sandboxDirectory(options.cwd, asked);
  return kind === 'session' && !asked ? undefined : callFolder(toolFolder(options), asked);
}

/** Returns the truncation that applies when the call asks for none. */
export function ownTruncate(options: BashToolOptions): Truncate {
  return options.truncate ?? TRUNCATE.tail;
}

/** Returns the time limit that a model asks for, within its bounds, with a note if they changed it. */
export function timeLimit(
  asked: number | null | undefined,
  longestMs: number,
): { timeoutMs: number | undefined; notes: string[] } {
  if (asked == null) return { timeoutMs: undefined, notes: [] };
  const timeoutMs = Math.min(Math.max(Math.round(asked), SHORTEST_LIMIT_MS), longestMs);
  if (timeoutMs === Math.round(asked)) return { timeoutMs, notes: [] };
  const bound = timeoutMs === SHORTEST_LIMIT_MS ? 'the shortest' : 'the longest';
  return { timeoutMs, notes: [`timeout_ms ${asked} was taken as ${timeoutMs}, ${bound} that may be asked for`] };
}
