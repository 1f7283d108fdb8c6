import { resolve } from 'node:path';
import { type BashOptions, TRUNCATE, type Truncate } from 'agent-bash';
import { overriddenOptions, sandboxDirectory, sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf } from './in-session.ts';
import { terminalOf } from './in-terminal.ts';
import { LONGEST_LIMIT_MS, longestBackgroundMs, SHORTEST_LIMIT_MS } from './limits.ts';
import { type LineLimit, lineLimits, truncateFor } from './lines/line-limits.ts';
import { trailingLimit } from './lines/trailing-limit.ts';
import { ACCESS_FIELD, INPUT_FIELDS } from './schema.ts';
import type { BashToolInput, BashToolOptions } from './types.ts';
import { undoOption } from './undo-option.ts';
import { SHARED_OUTPUTS, type Sharing, VIEWS, type Viewed } from './view/outputs.ts';

/** Inputs that only make sense for a command that runs to its end. */
const LINE_FIELDS: readonly string[] = ['head', 'tail'];

/** The command and the options of one call. */
export interface CallPlan {
  /** The command without the trailing pipe that became a line limit. */
  command: string;
  options: BashOptions;
  limits: LineLimit[];
  /** Notes on inputs that were changed or ignored. */
  notes: string[];
}

/** Combines the model's input with the tool's options. */
export function planCall(command: string, input: BashToolInput, options: BashToolOptions): CallPlan {
  const mode = input.mode ?? options.mode;
  const background = mode === 'background';
  // In a single stream (merged, or a terminal's) the lines that passed the pipe cannot be distinguished from the
  // others. In the background the pipe shapes the log, so it stays.
  const oneStream = options.merge || terminalOf(options) !== undefined;
  const trailing = oneStream || background ? null : trailingLimit(command);
  const limits = background ? [] : lineLimits(trailing, input);
  const { timeoutMs, notes } = timeLimit(input.timeout_ms, background ? longestBackgroundMs() : LONGEST_LIMIT_MS);
  const known = options.onAccess === undefined ? INPUT_FIELDS : [...INPUT_FIELDS, ACCESS_FIELD];
  const taken = (field: string) => known.includes(field) && !(background && LINE_FIELDS.includes(field));
  const ignored = Object.entries(input).filter(([field, value]) => !taken(field) && value != null);
  if (ignored.length > 0) notes.push(`ignored input: ${ignored.map(([field]) => field).join(', ')}`);
  const there = sandboxOf(options) !== undefined;
  if (there) notes.push(...overriddenOptions(options));
  const first = limits[0];
  return {
    command: trailing?.command ?? command,
    options: {
      ...runOptions(options),
      cwd: there ? sandboxDirectory(options.cwd, input.cwd) : folderHere(options, input.cwd),
      mode,
      timeoutMs: timeoutMs ?? options.timeoutMs,
      // Servers are silent.
      ...(background && { idleTimeoutMs: undefined }),
      truncate: first === undefined ? options.truncate : truncateFor(first, ownTruncate(options)),
    },
    limits,
    notes,
  };
}

function folderHere(options: BashToolOptions, asked: string | null | undefined): string | undefined {
  // A session's command starts in the directory that the previous command leaves.
  return sessionOf(options) && !asked ? undefined : callFolder(toolFolder(options.cwd), asked);
}

/**
 * Returns the tool's directory as an absolute path. A value that is not a string is returned unchanged; the run then
 * rejects it by name.
 */
export function toolFolder(cwd: string | undefined): string {
  return cwd === undefined || typeof cwd === 'string' ? resolve(cwd ?? '.') : cwd;
}

/** Returns the truncation that applies when the call asks for none. */
export function ownTruncate(options: BashToolOptions): Truncate {
  return options.truncate ?? TRUNCATE.tail;
}

/** Resolves the directory of a call against the tool's. */
export function callFolder(folder: string, cwd: string | null | undefined): string {
  return cwd == null || typeof folder !== 'string' ? folder : resolve(folder, cwd);
}

/** Returns the options that `bash()` takes, without the tool's own. */
export function runOptions(options: BashToolOptions): BashOptions {
  const { perCall, errorOnFailure, run, updateIntervalMs, description, onBeforeRun, onAfterRun, ...others } = options;
  const { availableTools, interceptor, session, terminal, sandbox, onAccess, undo, reduce, outputs, ...more } = others;
  const { [VIEWS]: views, [SHARED_OUTPUTS]: shared, ...rest } = more as typeof more & Viewed & Sharing;
  return undo === undefined ? rest : { ...rest, undo: undoOption(undo) };
}

function timeLimit(
  asked: number | null | undefined,
  longestMs: number,
): { timeoutMs: number | undefined; notes: string[] } {
  if (asked == null) return { timeoutMs: undefined, notes: [] };
  const timeoutMs = Math.min(Math.max(Math.round(asked), SHORTEST_LIMIT_MS), longestMs);
  if (timeoutMs === Math.round(asked)) return { timeoutMs, notes: [] };
  const bound = timeoutMs === SHORTEST_LIMIT_MS ? 'the shortest' : 'the longest';
  return { timeoutMs, notes: [`timeout_ms ${asked} was taken as ${timeoutMs}, ${bound} that may be asked for`] };
}
