import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { checked, detached, type Started, start } from './command.ts';
import { invalid } from './errors.ts';
import { sandboxFiles } from './files.ts';
import { Leftovers } from './leftovers.ts';
import type { CommandFinished, DetachedCommand, LocalSandbox, LocalSessionOptions, RunParams } from './types.ts';

/** The variable that names the sandbox to what runs in it, so that `stop` finds it. */
const MARK = 'AGENT_BASH_SANDBOX';

/** SIGTERM to SIGKILL, as in `bash`. */
const DEFAULT_GRACE_MS = 2_000;

/**
 * A sandbox in the shape of the remote ones that agents carry in `experimental_context`, on this machine: put in their
 * place, nothing else of the agent changes. Programs are started without a shell in between, their output comes back whole
 * and unchanged, and there is no time limit.
 *
 * Nothing is made or started by the call itself. It throws `ERR_BASH_INVALID_ARG` for a `cwd` or `home` that is no string.
 */
export function createLocalSandbox(options: LocalSessionOptions = {}): LocalSandbox {
  const { home, ...rest } = options;
  const folder = folderOf(options.cwd, 'cwd') ?? process.cwd();
  const homeFolder = folderOf(home, 'home');
  const id = randomUUID();
  const base = {
    ...rest,
    cwd: folder,
    env: { ...(homeFolder === undefined ? {} : { HOME: homeFolder }), ...options.env },
  };
  const leftovers = new Leftovers(`${MARK}=${id}`, options.graceMs ?? DEFAULT_GRACE_MS);
  const running = new Map<Started, Promise<unknown>>();
  let startedAny = false;

  const launch = (params: RunParams, tellPid: boolean): Started => {
    const command = start(base, { ...params, env: { ...params.env, [MARK]: id } }, tellPid);
    startedAny = true;
    const over = command.ended.then(({ survivors }) => leftovers.remember(survivors));
    running.set(
      command,
      over.catch(() => {}).finally(() => running.delete(command)),
    );
    command.pid.catch(() => {});
    return command;
  };

  async function runCommand(
    first: string | (RunParams & { detached?: boolean }),
    args?: string[],
  ): Promise<CommandFinished | DetachedCommand> {
    const params = typeof first === 'string' ? checked({ cmd: first, args }) : checked(first);
    if (typeof first !== 'string' && first.detached) return detached(launch(params, true));
    return (await launch(params, false).ended).finished;
  }

  return {
    runCommand: runCommand as LocalSandbox['runCommand'],
    ...sandboxFiles(folder),
    async stop() {
      const ending = [...running];
      for (const [command] of ending) command.abort();
      await Promise.all(ending.map(([, over]) => over));
      if (startedAny) await leftovers.end();
    },
  };
}

function folderOf(path: unknown, name: string): string | undefined {
  if (path === undefined) return undefined;
  if (typeof path !== 'string') throw invalid(`${name} must be a string`);
  return resolve(path);
}
