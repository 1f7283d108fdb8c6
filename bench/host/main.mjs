// Entry point of a host process. It runs the tasks of its parent (tasks.mjs) one at a time until the channel closes.
import { tasks } from './tasks.mjs';

process.on('message', async ({ task, args }) => {
  try {
    process.send({ value: await tasks[task](...args) });
  } catch (error) {
    process.send({ error: `${task}(${args[0] ?? ''}): ${error?.stack ?? error}` });
  }
});
