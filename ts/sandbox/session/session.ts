import { definedOnly } from '../../core/defined.ts';
import { baseOf, withHome } from '../base.ts';
import { invalid } from '../errors.ts';
import { guarded, Output } from '../output.ts';
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
 * a `cwd` or `home` that is not a string, and for mode `'background'`. The call itself creates and starts nothing.
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
    return { base: withHome(base, needed ? ownHome.path : home), env: { ...env, ...running.mark } };
  };

  return {
    description: describe(base.cwd, home ?? base.env?.HOME ?? null),

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
      const { exitCode } = await ended;
      return { exitCode, ...output.streams() };
    },

    spawn: (async (options) => {
      const { stdin } = checkedCommand(options);
      if (stdin !== undefined && typeof stdin !== 'boolean') throw invalid('stdin must be true or false');
      const now = current(options.env);
      return spawnProcess(now.base, { ...options, env: now.env }, add);
    }) as SandboxSession['spawn'],

    ...sessionFiles(base.cwd),

    async [Symbol.asyncDispose]() {
      await running.end();
      await ownHome?.remove();
    },
  };
}

/** Returns what a model must know before it treats this machine as a sandbox. */
function describe(folder: string, home: string | null): string {
  return [
    `The machine that the agent itself runs on (${process.platform} ${process.arch}). Nothing is confined or virtual: what is changed here is changed for good.`,
    `Root directory: ${folder}. Commands start there, and relative paths too.`,
    `HOME is ${home ?? 'a private folder, empty at first'}.`,
    'Each command has a bash of its own: its working folder, variables and aliases are not there for the next one. Nobody can be asked anything.',
  ].join('\n');
}
