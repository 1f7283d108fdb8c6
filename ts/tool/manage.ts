import { type BackgroundCheck, type BackgroundRegistry, type BashResult, defaultRegistry } from 'agent-bash';
import { MANAGE_BY_INPUT } from './format/advice.ts';
import { knowledgeOf } from './task-knowledge.ts';
import type { BashToolError, BashToolInput, BashToolOptions } from './types.ts';

/** A question about a task, in place of a command. */
export interface TaskQuestion {
  action: 'check' | 'kill';
  pid: number;
}

/** Returns the question of a valid input, or `null` for a command. */
export function taskQuestion({ check_pid, kill_pid }: BashToolInput): TaskQuestion | null {
  if (check_pid != null) return { action: 'check', pid: check_pid };
  return kill_pid == null ? null : { action: 'kill', pid: kill_pid };
}

/** Returns the registry that holds a call's tasks: the given one, or the user's default. */
export function registryOf(options: BashToolOptions): BackgroundRegistry {
  return options.registry ?? defaultRegistry();
}

/** Returns a note for each survivor that became a task, because the model can check and kill it. */
export function adoptedNotes({ survivors }: BashResult, { registry }: { registry?: BackgroundRegistry | undefined }) {
  const ids = new Set(survivors.flatMap(({ taskId }) => taskId ?? []));
  if (registry === undefined || ids.size === 0) return [];
  const tasks = registry.list().filter(({ id }) => ids.has(id));
  return tasks.map(
    ({ pid, logPath }) =>
      `left running in the background: process ${pid}; ${MANAGE_BY_INPUT} to manage it; its further output: ${logPath}`,
  );
}

/**
 * Checks or kills a task. A call aborted earlier does nothing and consumes no output. A call aborted during a kill
 * stops waiting, and the kill continues.
 */
export async function answerTask(
  { action, pid }: TaskQuestion,
  options: BashToolOptions,
  signal: AbortSignal | undefined,
): Promise<BackgroundCheck | BashToolError> {
  if (signal?.aborted) return interrupted(`the call was interrupted before process ${pid} was looked at`);
  const registry = registryOf(options);
  const working = action === 'kill' ? registry.kill(pid) : registry.check(pid);
  const outcome = action === 'kill' && signal ? await unlessAborted(working, pid, signal) : await working;
  if ('task' in outcome) knowledgeOf(registry).check(outcome);
  return outcome;
}

async function unlessAborted(
  working: Promise<BackgroundCheck>,
  pid: number,
  signal: AbortSignal,
): Promise<BackgroundCheck | BashToolError> {
  let stop = () => {};
  const aborted = new Promise<BashToolError>((resolve) => {
    stop = () => resolve(interrupted(`the call was interrupted; process ${pid} is still being ended`));
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([working, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function interrupted(error: string): BashToolError {
  return { error, code: 'ABORT_ERR' };
}
