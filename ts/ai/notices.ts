import type { BackgroundRegistry, BackgroundTask } from 'agent-bash';
import { notify } from '../tool/call/manage.ts';
import { closingWords, linesFrom } from './task-log.ts';

/** The line before notices in the place of a person's message. */
export const NOT_BY_USER = 'Automatic notice, not written by the user:';
/** Characters of a command that a notice shows. */
const COMMAND_LENGTH = 80;

/**
 * Returns a `prepareStep` for ai 6 and ai 7 that tells the model which tasks of the registry have ended since the
 * previous step. It appends one user message with the end of each task, the amount of its output and the path of its
 * log. Each task is announced once, and not at all if `check_pid`, `kill_pid` or `wait_pid` has already reported its
 * end. Tasks that ended before this call are not announced. The tool's texts then say that there is no need to poll.
 *
 * A registry with `dir`, `defaultRegistry()` included, also holds the tasks of other processes that use the same
 * directory. With nothing to announce, or with a closed registry, the step stays unchanged.
 */
export function backgroundNotices(
  registry: BackgroundRegistry,
): <M>(step: { messages: M[] }) => { messages: M[] } | undefined {
  const knowledge = notify(registry);
  for (const { id, state } of tasksOf(registry)) if (state !== 'running') knowledge.end(id);
  return <M>({ messages }: { messages: M[] }) => {
    const tasks = tasksOf(registry);
    const ended = tasks.filter(({ id, state }) => state !== 'running' && !knowledge.knowsEnd(id));
    if (ended.length === 0) return undefined;
    const lines = ended.map((task) => notice(task, knowledge.cursor(task.id)));
    for (const { id } of ended) knowledge.end(id);
    knowledge.keep(tasks);
    const content = `${NOT_BY_USER}\n\n${lines.join('\n')}`;
    return { messages: [...messages, { role: 'user', content } as M] };
  };
}

/** A step must not fail because the host has closed the registry. */
function tasksOf(registry: BackgroundRegistry): BackgroundTask[] {
  try {
    return registry.list();
  } catch {
    return [];
  }
}

/**
 * Returns the notice that a task has ended. `cursor` is how far the model has read its log, in bytes; `undefined` if it
 * has not.
 */
export function notice(task: BackgroundTask, cursor: number | undefined): string {
  const command = [...task.command.replace(/\s+/g, ' ').trim()];
  const shown = command.slice(0, COMMAND_LENGTH).join('') + (command.length > COMMAND_LENGTH ? '…' : '');
  const lines = linesFrom(task, cursor ?? 0);
  const written = lines === null ? '' : ` ${lines} ${cursor === undefined ? 'lines' : 'new lines since last check'}.`;
  return `[Background process ${task.pid} (${shown}) has ended: ${closingWords(task)}.${written} Full output: ${task.logPath}]`;
}
