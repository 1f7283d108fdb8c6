import type { BackgroundRegistry, BackgroundTask } from 'agent-bash';
import { closingWords, linesFrom } from './task-log.ts';
import { notify } from './told.ts';

/** What of a command a notice shows, in characters. */
const COMMAND_LENGTH = 80;

/**
 * A `prepareStep` for ai 6 and ai 7 that tells the model which tasks of the registry have ended since the step before: one
 * user message at the end of the conversation, with how each ended, how much it wrote and where its log is. Each task is
 * told of once, and not at all when `check_pid` or `kill_pid` has told of its end; those that had ended when this was
 * called are not told of. The tool's texts then say that there is no need to poll.
 *
 * A registry with `dir`, `defaultRegistry()` too, also has the tasks of others who use the same folder. Without anything to
 * tell, and with a registry that is closed, the step stays as it is.
 */
export function backgroundNotices(
  registry: BackgroundRegistry,
): <M>(step: { messages: M[] }) => { messages: M[] } | undefined {
  const told = notify(registry);
  for (const { id, state } of tasksOf(registry)) if (state !== 'running') told.end(id);
  return <M>({ messages }: { messages: M[] }) => {
    const tasks = tasksOf(registry);
    const ended = tasks.filter(({ id, state }) => state !== 'running' && !told.knowsEnd(id));
    if (ended.length === 0) return undefined;
    const lines = ended.map((task) => notice(task, told.cursor(task.id)));
    for (const { id } of ended) told.end(id);
    told.keep(tasks);
    const content = `Automatic notice, not written by the user:\n\n${lines.join('\n')}`;
    return { messages: [...messages, { role: 'user', content } as M] };
  };
}

/** A step must not fail because the host has closed the registry already. */
function tasksOf(registry: BackgroundRegistry): BackgroundTask[] {
  try {
    return registry.list();
  } catch {
    return [];
  }
}

function notice(task: BackgroundTask, cursor: number | undefined): string {
  const command = [...task.command.replace(/\s+/g, ' ').trim()];
  const shown = command.slice(0, COMMAND_LENGTH).join('') + (command.length > COMMAND_LENGTH ? '…' : '');
  const lines = linesFrom(task.logPath, cursor ?? 0);
  const written = lines === null ? '' : ` ${lines} ${cursor === undefined ? 'lines' : 'new lines since last check'}.`;
  return `[Background process ${task.pid} (${shown}) has ended: ${closingWords(task)}.${written} Full output: ${task.logPath}]`;
}
