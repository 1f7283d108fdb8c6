import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm start                           repair a small broken project, made for the purpose
       npm start -- --keep                 and keep it
       npm start -- 'TASK' [--cwd DIR]     do a task in a folder of your own (default: the current one)

Without AGENT_BASH_MODEL and AI_GATEWAY_API_KEY the agent runs on a script that knows only the first.`;

/** What a task is when none is given. */
export const REPAIR_TASK = 'The tests of this project fail. Find out why, repair it, and commit the repair.';

/**
 * @typedef {object} Wanted
 * @property {string} task
 * @property {string | null} folder The user's own, or `null` for the project made for the purpose.
 * @property {boolean} keep Whether that project stays.
 * @property {boolean} help
 */

/**
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Wanted} Throws where they make no sense.
 */
export function readArguments(args, env) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      cwd: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (positionals.length > 1) throw new Error('the task must be one argument: put it in quotes');
  const [task] = positionals;
  if (task?.trim() === '') throw new Error('the task is empty');
  const own = task !== undefined || values.cwd !== undefined;
  if (own && values.keep)
    throw new Error('--keep is for the project made for the purpose; your own folder stays anyway');
  // npm moves to the package's folder first and says where the user was.
  const from = (env.npm_lifecycle_event === 'start' && env.INIT_CWD) || process.cwd();
  return {
    task: task ?? REPAIR_TASK,
    folder: own ? resolve(from, values.cwd ?? '.') : null,
    keep: values.keep,
    help: values.help,
  };
}
