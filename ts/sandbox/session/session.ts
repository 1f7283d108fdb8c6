import { definedOnly } from '../../core/defined.ts';
import { OWNER } from '../../core/world.ts';
import { type Base, baseOf, checkLocal, denialOf, diskBase, isConfined, withHome, withWritable } from '../base.ts';
import { commandDisk } from '../command-disk.ts';
import { describe } from '../description.ts';
import { type Disk, HOST_DISK } from '../disk.ts';
import { invalid } from '../errors.ts';
import { factsOf, guarded, Output } from '../output.ts';
import { Running } from '../running.ts';
import { type Started, start } from '../start.ts';
import type { LocalSessionOptions, SandboxOptions } from '../types.ts';
import type { Current } from './current.ts';
import { sessionFiles } from './files.ts';
import { PrivateHome } from './home.ts';
import { HomeThere } from './home-there.ts';
import { checkedCommand } from './options.ts';
import { spawnProcess } from './process.ts';
import type { DisposableSandboxSession, SandboxSession } from './types.ts';

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
export function createLocalSandboxSession(options: LocalSessionOptions = {}): DisposableSandboxSession {
  checkLocal('createLocalSandboxSession', 'createSandboxSession', options);
  return make('createLocalSandboxSession', options);
}

/**
 * Creates a session as `createLocalSandboxSession` does, on this machine or on a target: commands and files are there.
 * A private home there stays if this process ends without the session's end.
 *
 * Throws `ERR_BASH_INVALID_ARG` also for a `target` that is none, and for a pool.
 */
export function createSandboxSession(options: SandboxOptions = {}): DisposableSandboxSession {
  return make('createSandboxSession', options);
}

function make(entry: string, options: SandboxOptions): DisposableSandboxSession {
  const { base, home } = baseOf(entry, options);
  const running = new Running(base);
  const ownHome = ownHomeOf(base, home);
  const add = (started: Started) => {
    if (ownHome instanceof PrivateHome) ownHome.keepUntil(started.ended);
    return running.add(started);
  };
  const current = (given?: Record<string, string>) => currentOf({ base, home, ownHome, running }, given);

  if (!base.target && isConfined(base) && !base.signal?.aborted) begin(current());
  return {
    description: describe(base, home ?? base.env?.HOME ?? null),

    async run(options) {
      const { command, workingDirectory, env, abortSignal } = checkedCommand(options);
      const output = new Output();
      const tellCaller = guarded(base.onOutput);
      const now = current(env);
      const { ended } = add(
        start(
          now.base,
          {
            command,
            cwd: workingDirectory,
            env: now.env,
            signal: abortSignal,
            onOutput: (chunk) => {
              output.add(chunk);
              return base.onOutput && tellCaller(chunk);
            },
          },
          now.ready,
        ),
      );
      const end = await ended;
      return { exitCode: end.exitCode, ...output.streams(), ...factsOf(end) };
    },

    spawn: (async (options) => {
      const { stdin } = checkedCommand(options);
      if (stdin !== undefined && typeof stdin !== 'boolean') throw invalid('stdin must be true or false');
      const now = current(options.env);
      return spawnProcess(now, options, add);
    }) as SandboxSession['spawn'],

    ...sessionFiles(base.cwd, diskOf(base, current, add)),

    async [Symbol.asyncDispose]() {
      await running.end();
      base[OWNER]?.end();
      await ownHome?.remove();
    },
  };
}

/** What the options of a session's commands depend on. */
interface Parts {
  base: Base;
  /** The home that the caller has given. */
  home: string | undefined;
  ownHome: PrivateHome | HomeThere | null;
  running: Running;
}

/** Returns the private directory of a session, which is the home of its commands unless they have another. */
function ownHomeOf(base: Base, home: string | undefined): PrivateHome | HomeThere | null {
  const isHomeless = home === undefined && base.env?.HOME === undefined;
  if (!isHomeless) return null;
  return base.target ? new HomeThere(base.target) : new PrivateHome();
}

/** Returns the options that a command starts with at this moment. `given` are its own variables. */
function currentOf({ base, home, ownHome, running }: Parts, given: Record<string, string> = {}): Current {
  base.signal?.throwIfAborted();
  const own = definedOnly(given) as Record<string, string>;
  const env = { ...own, ...running.mark };
  const needed = [home, base.env?.HOME, own.HOME].every((each) => each === undefined);
  // All confined commands have one world, whatever their own HOME is.
  if (ownHome === null || !(needed || isConfined(base))) return { base: withHome(base, home), env };
  const within = (path: string) => withHome(withWritable(base, path), needed ? path : home);
  if (ownHome instanceof PrivateHome) return { base: within(ownHome.path), env };
  return { base, ready: ownHome.path.then(within), env };
}

/** Begins the world of a session's commands. The private home is a part of the confinement, so it exists by now. */
function begin({ base, env }: Current): void {
  base[OWNER]?.begin({ ...base, env: { ...base.env, ...env } });
}

/**
 * Returns the files that the session's own methods reach: the files that its commands reach, if they are confined or on
 * a target.
 */
function diskOf(
  base: Base,
  current: (env?: Record<string, string>) => Current,
  add: (started: Started) => Started,
): Disk {
  if (!base.target && !isConfined(base)) return HOST_DISK;
  return commandDisk((order) => {
    // The private home is a part of the confinement, so the commands of now decide. Without one, none is needed.
    const now = current(isConfined(base) ? order.env : { ...order.env, HOME: '/' });
    return add(start(diskBase(now.base), { ...order, env: now.env }, now.ready?.then(diskBase)));
  }, denialOf(base));
}
