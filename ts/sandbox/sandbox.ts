import { OWNER } from '../core/world.ts';
import { baseOf, checkLocal, denialOf, diskBase, isConfined, withHome } from './base.ts';
import { checked, detached, type StartedProgram, startProgram } from './command.ts';
import { commandDisk } from './command-disk.ts';
import { HOST_DISK } from './disk.ts';
import { sandboxFiles } from './files.ts';
import { Running } from './running.ts';
import { type Order, start } from './start.ts';
import type {
  CommandFinished,
  DetachedCommand,
  LocalSessionOptions,
  RunParams,
  Sandbox,
  SandboxOptions,
} from './types.ts';

/**
 * Creates a sandbox on this machine with the interface of the remote sandboxes that agents carry in
 * `experimental_context`. It replaces a remote sandbox without any other change to the agent. Programs start without a
 * shell in between. Their output comes back whole and unchanged, and there is no time limit.
 *
 * The call itself starts no command. With `confine` it begins the namespaces of the commands in the background. It
 * throws `ERR_BASH_INVALID_ARG` for a `cwd` or `home` that is not a string, and for mode `'background'`.
 */
export function createLocalSandbox(options: LocalSessionOptions = {}): Sandbox {
  checkLocal('createLocalSandbox', 'createSandbox', options);
  return make('createLocalSandbox', options);
}

/**
 * Creates a sandbox as `createLocalSandbox` does, on this machine or on a target: commands and files are there.
 *
 * Throws `ERR_BASH_INVALID_ARG` also for a `target` that is none, and for a pool.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return make('createSandbox', options);
}

function make(entry: string, options: SandboxOptions): Sandbox {
  const { base: own, home } = baseOf(entry, options);
  const base = withHome(own, home);
  const running = new Running(own);
  base[OWNER]?.begin({ ...base, env: { ...base.env, ...running.mark } });

  const launch = (params: RunParams, tellPid: boolean): StartedProgram =>
    running.add(startProgram(base, { ...params, env: { ...params.env, ...running.mark } }, tellPid));

  const ofDisk = (order: Order) =>
    running.add(start(diskBase(own), { ...order, env: { ...order.env, ...running.mark } }));
  const isOfHost = own.target === undefined && !isConfined(own);

  async function runCommand(
    first: string | (RunParams & { detached?: boolean }),
    args?: string[],
  ): Promise<CommandFinished | DetachedCommand> {
    const params = typeof first === 'string' ? checked({ cmd: first, args }) : checked(first);
    if (typeof first !== 'string' && first.detached) return detached(launch(params, true), running.processes);
    const program = launch(params, false);
    return program.finished(await program.ended);
  }

  return {
    runCommand: runCommand as Sandbox['runCommand'],
    ...sandboxFiles(base.cwd, isOfHost ? HOST_DISK : commandDisk(ofDisk, denialOf(own))),
    async stop() {
      await running.end();
      base[OWNER]?.end();
    },
  };
}
