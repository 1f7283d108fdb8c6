import type { BackgroundTask } from 'agent-bash';
import { runningFirst } from '../tool/parts.ts';
import { paint, print, printable, printJson, remark } from './console.ts';
import { type CommonOptions, stateOf, withRegistry } from './tasks.ts';
import { age } from './values.ts';

const HEAD = ['PID', 'STATE', 'STARTED', 'TIME', 'ID', 'DIRECTORY', 'COMMAND'];

/** `agent-bash ps`: lists the tasks as a table or a JSON array. */
export async function ps(options: CommonOptions & { running?: boolean }): Promise<void> {
  await withRegistry(options, async (registry, target) => {
    const shown = registry
      .list()
      .filter(({ state }) => !options.running || state === 'running')
      .sort(runningFirst);
    if (options.json) return printJson(shown);
    if (shown.length === 0) return remark(`there are no background tasks${target ? ` on ${target.id}` : ''}`);
    for (const line of table(shown, Date.now(), target?.info.home ?? process.env.HOME)) await print(line);
  });
}

/** Returns a directory with `~` for the user's own. */
function shortened(directory: string, home: string | undefined): string {
  if (!home || home === '/') return directory;
  return directory === home || directory.startsWith(`${home}/`) ? `~${directory.slice(home.length)}` : directory;
}

function table(tasks: BackgroundTask[], now: number, home: string | undefined): string[] {
  const rows = [
    HEAD,
    ...tasks.map((task) => [
      String(task.pid),
      stateOf(task).text,
      `${age(now - task.startedAt)} ago`,
      age((task.endedAt ?? now) - task.startedAt),
      task.id,
      printable(shortened(task.cwd, home)),
      printable(task.command),
    ]),
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  // On a terminal a task takes one line. In a pipe nothing is cut.
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    const before = cells.slice(0, -1).join('  ').length + 2;
    const command = [...(cells.pop() ?? '')];
    const room = Math.max(8, columns - before);
    const last = command.length > room ? `${command.slice(0, room - 1).join('')}…` : command.join('');
    if (index === 0) return paint('dim', [...cells, last].join('  '));
    const task = tasks[index - 1] as BackgroundTask;
    return [cells[0], paint(stateOf(task).colour, cells[1] ?? ''), ...cells.slice(2), last].join('  ');
  });
}
