import type { NativeWait } from '../native.cjs';
import { type Check, checkFields, invalid, isSignal, wholeNumber } from './options';
import type { BackgroundRegistryOptions, BackgroundWaitOptions } from './types';

const MAX = Number.MAX_SAFE_INTEGER;

/** Checks types and ranges, since a constructor is where a mistake can be told at once. */
export function checkRegistryOptions(options: unknown): asserts options is BackgroundRegistryOptions {
  checkFields('options', options, {
    dir: (value, name) => {
      if (typeof value !== 'string' || value === '' || value.includes('\0'))
        throw invalid(name, value, 'the path of a folder');
    },
    maxTasks: wholeNumber(1, MAX),
    maxLogBytes: wholeNumber(1, MAX),
    retentionMs: wholeNumber(0, MAX),
  });
}

export const isPattern: Check = (value, name) => {
  if (typeof value !== 'string' && !(value instanceof RegExp)) throw invalid(name, value, 'a string or a RegExp');
};

/** Checks what a wait is for; whether the engine can do the pattern is found out by the core. */
export function checkWaitOptions(options: unknown): asserts options is BackgroundWaitOptions {
  checkFields('options', options, {
    timeoutMs: wholeNumber(0, MAX),
    pattern: isPattern,
    port: wholeNumber(1, 65_535),
    signal: isSignal,
  });
}

export function checkCursor(options: unknown): number | undefined {
  checkFields('options', options, { cursor: wholeNumber(0, MAX) });
  return (options as { cursor?: number }).cursor;
}

/** A task as the core takes it: its id, or its pid in decimal digits. */
export function nameOf(task: unknown): string {
  if (typeof task === 'string' && task !== '') return task;
  if (Number.isSafeInteger(task) && (task as number) > 0) return String(task);
  throw invalid('task', task, 'the id or the pid of a task');
}

export function toNativeWait({ timeoutMs, pattern, port, signal }: BackgroundWaitOptions): NativeWait {
  const wanted: NativeWait = {};
  if (timeoutMs !== undefined) wanted.timeoutMs = timeoutMs;
  if (port !== undefined) wanted.port = port;
  if (signal?.aborted) wanted.aborted = true;
  const { source, flags } = patternOf(pattern);
  if (source !== undefined) wanted.pattern = source;
  if (flags !== undefined) wanted.flags = flags;
  return wanted;
}

/** A pattern as the core takes it. */
export function patternOf(pattern: string | RegExp | undefined): { source?: string; flags?: string } {
  if (pattern === undefined) return {};
  if (typeof pattern === 'string') return { source: pattern };
  // What only says where to look next (g, y) or what to tell of a match (d) has no meaning here.
  const flags = pattern.flags.replace(/[dgy]/g, '');
  return { source: pattern.source, ...(flags !== '' && { flags }) };
}
