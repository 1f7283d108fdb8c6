import { stat } from 'node:fs/promises';
import { BackgroundRegistry, type BackgroundTask, defaultRegistry, type Target } from 'agent-bash';
import { runningFirst } from '../tool/parts.ts';
import { type Colour, Failure, paint, remark } from './console.ts';
import { brieflyOn, type TargetFlags } from './destination.ts';

/** Options of all commands. */
export interface CommonOptions extends TargetFlags {
  dir?: string;
  json?: boolean;
}

/**
 * Opens the registry of `--dir`, which must exist, or the user's default, here or on the target of `--on`. Closes it
 * when `use` is done.
 */
export function withRegistry(
  options: CommonOptions,
  use: (registry: BackgroundRegistry, target: Target | undefined) => Promise<void>,
  { make = false } = {},
): Promise<void> {
  const { dir } = options;
  return brieflyOn(options, async (target) => {
    // A mistyped directory must not be created.
    if (dir !== undefined && !make && !(await isDirectory(dir, target))) {
      throw new Failure('ERR_BASH_CWD_NOT_FOUND', `there is no directory ${dir}${target ? ` on ${target.id}` : ''}`);
    }
    const registry = dir === undefined ? defaultRegistry(target) : new BackgroundRegistry({ target, dir });
    try {
      // `list` returns what the target has told last.
      if (target) await registry.refresh();
      await use(registry, target);
      for (const note of registry.notes) await remark(note);
    } finally {
      await registry.close();
    }
  });
}

async function isDirectory(dir: string, target: Target | undefined): Promise<boolean> {
  if (!target) return (await stat(dir).catch(() => null))?.isDirectory() ?? false;
  // A link may lead to one.
  return ['directory', 'link'].includes((await target.stat(dir))?.kind ?? '');
}

/**
 * Returns the task with this pid or id. If a pid was used more than once, the running task counts, or else the latest.
 */
export function findTask(registry: BackgroundRegistry, name: string): BackgroundTask {
  const found = registry
    .list()
    .filter(({ id, pid }) => id === name || String(pid) === name)
    .sort(runningFirst)[0];
  if (found) return found;
  throw new Failure(
    'ERR_BASH_UNKNOWN_TASK',
    `there is no task ${JSON.stringify(name)}: \`agent-bash ps\` lists the tasks`,
  );
}

/** Returns the task that was started last. */
export function newestTask(registry: BackgroundRegistry): BackgroundTask {
  const [newest] = registry.list().sort((one, other) => other.startedAt - one.startedAt);
  if (newest) return newest;
  throw new Failure('ERR_BASH_UNKNOWN_TASK', 'there are no background tasks');
}

/** Returns a task's state in a word or two, and its colour. */
export function stateOf({ state, exitCode, signal }: BackgroundTask): { text: string; colour: Colour } {
  switch (state) {
    case 'running':
      return { text: 'running', colour: 'green' };
    case 'exited':
      return { text: `exited ${exitCode}`, colour: exitCode === 0 ? 'dim' : 'red' };
    case 'killed':
      return { text: `killed ${signal ?? exitCode}`, colour: 'yellow' };
    case 'lost':
      return { text: 'lost', colour: 'red' };
  }
}

/** Returns the coloured state. */
export function paintedState(task: BackgroundTask): string {
  const { text, colour } = stateOf(task);
  return paint(colour, text);
}
