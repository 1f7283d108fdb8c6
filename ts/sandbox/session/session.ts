import { definedOnly } from '../../core/defined.ts';
import { OWNER } from '../../core/world.ts';
import { type Base, baseOf, diskBase, isConfined, withHome, withWritable } from '../base.ts';
import { confinedDisk } from '../confined-disk.ts';
import { describe } from '../description.ts';
import { type Disk, HOST_DISK } from '../disk.ts';
import { invalid } from '../errors.ts';
import { factsOf, guarded, Output } from '../output.ts';
import { Running } from '../running.ts';
import { type Started, start } from '../start.ts';
import type { LocalSessionOptions } from '../types.ts';
import { sessionFiles } from './files.ts';
import { PrivateHome } from './home.ts';
import { checkedCommand } from './options.ts';
import { spawnProcess } from './process.ts';
import type { LocalSandboxSession, SandboxSession } from './types.ts';

/**
 * Creates a whole `SandboxSession` of ai 7 on this machine: `experimental_sandbox: createLocalSandboxSession()`. `bash
 * -c` runs the commands, each judged first. Their output comes back whole and unchanged, and there is no time limit
 * unless the options set one.
 *
 * Relative paths start at `cwd`, which is resolved now. `HOME` is a private directory, created when a command first
 * needs it and removed with the process, unless `home` (or `env.HOME`) sets another. Throws `ERR_BASH_INVALID_ARG` for
 * a `cwd` or `home` that is not a string, and for mode `'background'`. The call itself starts no command. With
 * `confine` it creates that directory, and begins the namespaces of the commands in the background.
 */
export function createLocalSandboxSession(options: LocalSessionOptions = {}): LocalSandboxSession {
  const { base, home } = baseOf('createLocalSandboxSession', options);
  const running = new Running(options.graceMs);
  const ownHome = home === undefined && base.env?.HOME === undefined ? new PrivateHome() : null;
  const add = (started: Started) => {
    ownHome?.keepUntil(started.ended);
    return running.add(started);
  };
  /** The options that a command starts with at this moment. */
  const current = (given: Record<string, string> = {}) => {
    base.signal?.throwIfAborted();
    const env = definedOnly(given) as Record<string, string>;
    const needed = ownHome !== null && env.HOME === undefined;
    // All confined commands have one world, whatever their own HOME is.
    const made = ownHome !== null && (needed || isConfined(base)) ? ownHome.path : null;
    const own = made === null ? base : withWritable(base, made);
    return { base: withHome(own, needed && made !== null ? made : home), env: { ...env, ...running.mark } };
  };

  if (isConfined(base) && !base.signal?.aborted) begin(current());
  return {
    description: describe(base, home ?? base.env?.HOME ?? null),

    async run(options) {
      const { command, workingDirectory, env, abortSignal } = checkedCommand(options);
      const output = new Output();
      const tellCaller = guarded(base.onOutput);
      const now = current(env);
      const { ended } = add(
        start(now.base, {
          command,
          cwd: workingDirectory,
          env: now.env,
          signal: abortSignal,
          onOutput: (chunk) => {
            output.add(chunk);
            return base.onOutput && tellCaller(chunk);
          },
        }),
      );
      const end = await ended;
      return { exitCode: end.exitCode, ...output.streams(), ...factsOf(end) };
    },

    spawn: (async (options) => {
      const { stdin } = checkedCommand(options);
      if (stdin !== undefined && typeof stdin !== 'boolean') throw invalid('stdin must be true or false');
      const now = current(options.env);
      return spawnProcess(now.base, { ...options, env: now.env }, add);
    }) as SandboxSession['spawn'],

    ...sessionFiles(base.cwd, diskOf(base, current, add)),

    async [Symbol.asyncDispose]() {
      await running.end();
      base[OWNER]?.end();
      await ownHome?.remove();
    },
  };
}

/** Begins the world of a session's commands. The private home is a part of the confinement, so it exists by now. */
function begin({ base, env }: { base: Base; env: Record<string, string> }): void {
  base[OWNER]?.begin({ ...base, env: { ...base.env, ...env } });
}

/** Returns the files that the session's own methods reach: the files that its commands reach, if they are confined. */
function diskOf(
  base: Base,
  current: (env?: Record<string, string>) => { base: Base; env: Record<string, string> },
  add: (started: Started) => Started,
): Disk {
  if (!isConfined(base)) return HOST_DISK;
  // The private home is a part of the confinement, so the commands of now decide.
  return confinedDisk((order) => {
    const now = current(order.env);
    return add(start(diskBase(now.base), { ...order, env: now.env }));
  });
}
