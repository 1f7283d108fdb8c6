import type { BackgroundRegistry, BackgroundTask, BashOptions } from 'agent-bash';
import type { Feed } from './feed.ts';

/**
 * Starts a task whose output goes to a feed until that is over. `onStart` gets the task with its end, which comes after
 * all output.
 */
export async function startTask(
  registry: BackgroundRegistry,
  command: string,
  options: BashOptions,
  feed: Feed,
  onStart: (task: BackgroundTask, ended: Promise<BackgroundTask>) => void,
): Promise<BackgroundTask> {
  // A task may write and end before its start is known here.
  const isIt = async ({ id }: BackgroundTask) => (await starting.catch(() => undefined))?.id === id;
  const onOutput = async (task: BackgroundTask, text: string) => {
    if (await isIt(task)) await feed.push(text);
  };
  let onExit: (task: BackgroundTask) => Promise<void> = async () => {};
  const ended = new Promise<BackgroundTask>((resolve) => {
    onExit = async (task) => {
      if (await isIt(task)) resolve(task);
    };
  });
  registry.on('output', onOutput).on('exit', onExit);
  void feed.told.then(() => registry.off('output', onOutput).off('exit', onExit));
  const starting = registry.start(command, options).then((task) => {
    onStart(task, ended);
    return task;
  });
  return await starting.catch((error) => {
    feed.stop();
    throw error;
  });
}
