import type { NativeWait } from '../../native.cjs';
import { type Checks, checkFields, invalid, isPattern, isSignal, wholeNumber } from '../core/checks.ts';
import { OPTION_TABLES } from '../options.ts';
import type { BackgroundCheckOptions, BackgroundRegistryOptions, BackgroundWaitOptions } from './types.ts';

const REGISTRY: Checks<BackgroundRegistryOptions> = {
  target: OPTION_TABLES.bash.target,
  affinity: OPTION_TABLES.bash.affinity,
  dir: (value, name) => {
    if (typeof value !== 'string' || value === '' || value.includes('\0'))
      throw invalid(name, value, 'the path of a directory');
  },
  maxTasks: wholeNumber(1),
  maxLogBytes: wholeNumber(1),
  retentionMs: wholeNumber(0),
  confine: OPTION_TABLES.bash.confine,
  draft: OPTION_TABLES.bash.draft,
};

const CHECK: Checks<BackgroundCheckOptions> = { cursor: wholeNumber(0) };

const WAIT: Checks<BackgroundWaitOptions> = {
  timeoutMs: wholeNumber(0),
  pattern: isPattern,
  port: wholeNumber(1, 65_535),
  signal: isSignal,
};

/** Checks types and ranges: a constructor is where a mistake shows at once. */
export function checkRegistryOptions(options: unknown): asserts options is BackgroundRegistryOptions {
  checkFields<BackgroundRegistryOptions>('BackgroundRegistry', options, REGISTRY);
}

export function checkCheckOptions(options: unknown): asserts options is BackgroundCheckOptions {
  checkFields<BackgroundCheckOptions>('BackgroundRegistry.check', options, CHECK);
}

/** Checks the options of a wait. The addon checks whether the engine supports the pattern. */
export function checkWaitOptions(options: unknown): asserts options is BackgroundWaitOptions {
  checkFields<BackgroundWaitOptions>('BackgroundRegistry.wait', options, WAIT);
}

/** Returns a task's name for the addon: its id, or its pid in decimal digits. */
export function nameOf(given: unknown): string {
  const task = typeof given === 'object' && given !== null && 'id' in given ? given.id : given;
  if (typeof task === 'string' && task !== '') return task;
  if (Number.isSafeInteger(task) && (task as number) > 0) return String(task);
  throw invalid('task', given, 'a task, or the id or the pid of a task');
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

/** Returns a pattern for the addon. */
export function patternOf(pattern: string | RegExp | undefined): { source?: string; flags?: string } {
  if (pattern === undefined) return {};
  if (typeof pattern === 'string') return { source: pattern };
  // Flags that say where to search next (g, y) or what to report of a match (d) have no meaning here.
  const flags = pattern.flags.replace(/[dgy]/g, '');
  return { source: pattern.source, ...(flags !== '' && { flags }) };
}
