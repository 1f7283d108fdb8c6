import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm start                           repair a small broken project, created for this run
       npm start -- --keep                 the same, and keep the project
       npm start -- 'TASK' [--cwd DIR]     do a task in a directory of your own (default: the current one)
       npm start -- --unconfined …         with commands that reach all that you can reach
       npm start -- --ui …                 with a page on which you watch the commands, and are asked for the commit
       npm start -- --on DEST …            with commands on another machine or in a container: an ssh destination,
                                           docker:NAME, podman:NAME or pod:NAMESPACE/POD[/CONTAINER]
                                           (--ssh-config FILE: the config of ssh)

Without AGENT_BASH_MODEL and AI_GATEWAY_API_KEY a script takes the place of the model. It knows only the repair.`;

/** Default task. */
export const REPAIR_TASK = 'The tests of this project fail. Find out why, repair it, and commit the repair.';

/**
 * @typedef {object} Wanted
 * @property {string} task
 * @property {string | null} directory The user's own, or `null` for the generated project.
 * @property {boolean} keep Whether to keep that project.
 * @property {boolean} unconfined Whether commands reach all that the user can reach.
 * @property {boolean} ui Whether to open the page beside the agent.
 * @property {import('agent-bash').TargetAddress | null} target Where its commands run, or `null` for this machine.
 * @property {boolean} help
 */

/**
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Wanted} Throws if the arguments are invalid.
 */
export function readArguments(args, env) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      cwd: { type: 'string' },
      keep: { type: 'boolean', default: false },
      unconfined: { type: 'boolean', default: false },
      ui: { type: 'boolean', default: false },
      on: { type: 'string' },
      'ssh-config': { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (positionals.length > 1) throw new Error('the task must be one argument: put it in quotes');
  const [task] = positionals;
  if (task?.trim() === '') throw new Error('the task is empty');
  const own = task !== undefined || values.cwd !== undefined;
  if (own && values.keep)
    throw new Error('--keep applies only to the generated project; your own directory is always kept');
  // npm changes to the package's directory first. INIT_CWD is the user's directory.
  const from = (env.npm_lifecycle_event === 'start' && env.INIT_CWD) || process.cwd();
  const { on, cwd = '.', 'ssh-config': config } = values;
  if (config !== undefined && on === undefined)
    throw new Error('--ssh-config is about a connection: name it with --on');
  return {
    task: task ?? REPAIR_TASK,
    // A directory of a target begins at the home there.
    directory: !own ? null : on === undefined ? resolve(from, cwd) : cwd,
    target: on === undefined ? null : addressOf(on, config === undefined ? undefined : resolve(from, config)),
    keep: values.keep,
    unconfined: values.unconfined,
    ui: values.ui,
    help: values.help,
  };
}

/**
 * Returns the address of a destination. Whether a name can be one is up to `connect`.
 * @param {string} destination
 * @param {string | undefined} config The config of ssh.
 * @returns {import('agent-bash').TargetAddress}
 */
function addressOf(destination, config) {
  const [, kind, name = ''] = /^(docker|podman|pod):(.*)$/s.exec(destination) ?? [];
  if (kind === 'docker') return { docker: name };
  if (kind === 'podman') return { podman: name };
  if (kind === undefined) return { ssh: { host: destination, ...(config !== undefined && { config }) } };
  const [namespace = '', pod = '', container] = name.split('/');
  return { kubernetes: { namespace, pod, ...(container !== undefined && { container }) } };
}
