import { resolve } from 'node:path';
import { type BashOptions, TRUNCATE, type Truncate } from 'agent-bash';
import { folderThere, leftOut, sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf } from './in-session.ts';
import { terminalOf } from './in-terminal.ts';
import { type LineLimit, lineLimits, truncateFor } from './line-limits.ts';
import { INPUT_FIELDS } from './schema.ts';
import { trailingLimit } from './trailing-limit.ts';
import type { BashToolInput, BashToolOptions } from './types.ts';

/** What a model may ask for, in ms. */
const SHORTEST_LIMIT_MS = 1_000;
const LONGEST_LIMIT_MS = 3_600_000;
const LONGEST_BACKGROUND_MS = 86_400_000;
/** Inputs that have no meaning without the end of the command, or without a command. */
const LINE_FIELDS: readonly string[] = ['head', 'tail'];

/** How one call is run. */
export interface CallPlan {
  /** Without the trailing pipe that became a limit. */
  command: string;
  options: BashOptions;
  limits: LineLimit[];
  /** What of the input was not taken as it stood. */
  notes: string[];
}

/** Brings together what the model asked for and the tool's options. */
export function planCall(command: string, input: BashToolInput, options: BashToolOptions): CallPlan {
  const mode = input.mode ?? options.mode;
  const background = mode === 'background';
  // In one stream, merged or a terminal's, the lines that went through the pipe cannot be told from those that did not. In the
  // background the pipe is what the log is to go through.
  const oneStream = options.merge || terminalOf(options) !== undefined;
  const trailing = oneStream || background ? null : trailingLimit(command);
  const limits = background ? [] : lineLimits(trailing, input);
  const { timeoutMs, notes } = timeLimit(input.timeout_ms, background ? LONGEST_BACKGROUND_MS : LONGEST_LIMIT_MS);
  const taken = (field: string) => INPUT_FIELDS.includes(field) && !(background && LINE_FIELDS.includes(field));
  const ignored = Object.entries(input).filter(([field, value]) => !taken(field) && value != null);
  if (ignored.length > 0) notes.push(`ignored input: ${ignored.map(([field]) => field).join(', ')}`);
  const there = sandboxOf(options) !== undefined;
  if (there) notes.push(...leftOut(options));
  const first = limits[0];
  return {
    command: trailing?.command ?? command,
    options: {
      ...runOptions(options),
      cwd: there ? folderThere(options.cwd, input.cwd) : folderHere(options, input.cwd),
      mode,
      timeoutMs: timeoutMs ?? options.timeoutMs,
      truncate: first === undefined ? options.truncate : truncateFor(first, ownTruncate(options)),
    },
    limits,
    notes,
  };
}

function folderHere(options: BashToolOptions, asked: string | null | undefined): string | undefined {
  // A session's command starts where the one before it will have left it.
  return sessionOf(options) && !asked ? undefined : callFolder(toolFolder(options.cwd), asked);
}

/** The folder of the tool, absolute. A value that is no string stays, and the run names it as wrong. */
export function toolFolder(cwd: string | undefined): string {
  return cwd === undefined || typeof cwd === 'string' ? resolve(cwd ?? '.') : cwd;
}

/** What is kept of each stream when nothing else is asked. */
export function ownTruncate(options: BashToolOptions): Truncate {
  return options.truncate ?? TRUNCATE.tail;
}

/** The folder of a call, resolved against the tool's. */
export function callFolder(folder: string, cwd: string | null | undefined): string {
  return cwd == null || typeof folder !== 'string' ? folder : resolve(folder, cwd);
}

/** What is left for `bash()` when the tool has taken its own. */
export function runOptions(options: BashToolOptions): BashOptions {
  const { perCall, errorOnFailure, run, updateIntervalMs, description, onBeforeRun, onAfterRun, ...others } = options;
  const { availableTools, interceptor, session, terminal, sandbox, ...rest } = others;
  return rest;
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
