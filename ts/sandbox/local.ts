import { OWNER } from '../core/world.ts';
import { baseOf, diskBase, isConfined, withHome } from './base.ts';
import { checked, detached, type StartedProgram, startProgram } from './command.ts';
import { confinedDisk } from './confined-disk.ts';
import { HOST_DISK } from './disk.ts';
import { sandboxFiles } from './files.ts';
import { Running } from './running.ts';
import { type Order, start } from './start.ts';
import type { CommandFinished, DetachedCommand, LocalSandbox, LocalSessionOptions, RunParams } from './types.ts';

/**
 * Creates a sandbox on this machine with the interface of the remote sandboxes that agents carry in
 * `experimental_context`. It replaces a remote sandbox without any other change to the agent. Programs start without a
 * shell in between. Their output comes back whole and unchanged, and there is no time limit.
 *
 * The call itself starts no command. With `confine` it begins the namespaces of the commands in the background. It
 * throws `ERR_BASH_INVALID_ARG` for a `cwd` or `home` that is not a string, and for mode `'background'`.
 */
export function createLocalSandbox(options: LocalSessionOptions = {}): LocalSandbox {
  const { base: own, home } = baseOf('createLocalSandbox', options);
  const base = withHome(own, home);
  const running = new Running(options.graceMs);
  base[OWNER]?.begin({ ...base, env: { ...base.env, ...running.mark } });

  const launch = (params: RunParams, tellPid: boolean): StartedProgram =>
    running.add(startProgram(base, { ...params, env: { ...params.env, ...running.mark } }, tellPid));

  const ofDisk = (order: Order) =>
    running.add(start(diskBase(own), { ...order, env: { ...order.env, ...running.mark } }));

  async function runCommand(
    first: string | (RunParams & { detached?: boolean }),
    args?: string[],
  ): Promise<CommandFinished | DetachedCommand> {
    const params = typeof first === 'string' ? checked({ cmd: first, args }) : checked(first);
    if (typeof first !== 'string' && first.detached) return detached(launch(params, true));
    const program = launch(params, false);
    return program.finished(await program.ended);
  }

  return {
    runCommand: runCommand as LocalSandbox['runCommand'],
    ...sandboxFiles(base.cwd, isConfined(own) ? confinedDisk(ofDisk) : HOST_DISK),
    async stop() {
      await running.end();
      base[OWNER]?.end();
    },
  };
}
