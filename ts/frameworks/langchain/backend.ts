import { bash } from 'agent-bash';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { checkObject } from '../../tool/options.ts';
import { allEnded } from '../shared/all-ended.ts';
import { Commands } from '../shared/commands.ts';
import { needs } from '../shared/needs.ts';
import { withTold } from '../shared/told.ts';
import type { Run } from '../shared/types.ts';

/** Options of `deepAgentsBackend`. */
export type DeepAgentsOptions = Omit<Run, 'signal'> & {
  /**
   * As in `LocalShellBackend`: whether paths of the file tools are below `cwd`. It does not confine commands.
   *
   * @default false
   * @example deepAgentsBackend(LocalShellBackend, { virtualMode: true });
   */
  virtualMode?: boolean | undefined;
  /**
   * Called for each command: the signal that ends it. deepagents passes none to its backend.
   *
   * @default none
   * @example deepAgentsBackend(LocalShellBackend, { signal: () => getConfig()?.signal });
   */
  signal?: (() => AbortSignal | undefined) | undefined;
};

/** The answer of `execute`. */
interface ExecuteResponse {
  output: string;
  exitCode: number | null;
  truncated: boolean;
}

/** A backend with a shell, as far as it is used. */
interface Shell {
  execute(command: string): Promise<ExecuteResponse>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: the constructor of a class that is extended
type Backend = new (...given: any[]) => Shell;

const OF_BACKENDS: OptionTable = { virtualMode: PLAIN };
/** The limit of a command in deepagents, in ms. */
const LIMIT_MS = 120_000;
/** What is kept of an output in deepagents, in bytes. */
const KEPT_BYTES = 100_000;

/**
 * Makes a backend for `createDeepAgent` with the file tools of deepagents and `execute` of this package. Both streams
 * are in the output in the order of writing, its last 100,000 bytes are kept, and the limit is 120 s; `truncate`,
 * `timeoutMs` and `mode` change that. `execute` never rejects: what cannot run, or is refused, is exit code 126 with
 * the reason as output. `close()` ends all commands and what they have left running.
 *
 * `cwd` is the `rootDir` of the file tools. Throws `ERR_BASH_UNSUPPORTED` if `LocalShellBackend` is not the class, and
 * `ERR_BASH_INVALID_ARG` for invalid options.
 *
 * @example const agent = createDeepAgent({ model, backend: deepAgentsBackend(LocalShellBackend, { cwd: '/srv/app' }) });
 * @param LocalShellBackend the class of `deepagents`, from 1.14.
 */
export function deepAgentsBackend<T extends Backend>(
  LocalShellBackend: T,
  given: DeepAgentsOptions = {},
): InstanceType<T> {
  needs('LocalShellBackend', LocalShellBackend, ['prototype.execute', 'prototype.close'], {
    name: 'deepagents',
    lowest: '1.14.0',
  });
  checkObject(given);
  const { signal: signalOf, virtualMode, ...options } = given;
  checkFunctions(innerOf(bash), { signal: signalOf });
  const commands = new Commands('deepAgentsBackend', options, OF_BACKENDS);
  class AgentBashBackend extends (LocalShellBackend as Backend) {
    override async execute(command: string): Promise<ExecuteResponse> {
      const { exitCode, stdout, view, more, truncated } = await commands.settle(command, () => ({
        signal: signalOf?.(),
        merge: true,
        timeoutMs: commands.isUnlimited ? LIMIT_MS : undefined,
        truncate: commands.options.truncate ?? { keep: 'tail', maxBytes: KEPT_BYTES },
      }));
      return { output: withTold(view ?? stdout, more), exitCode, truncated };
    }

    override async close(): Promise<void> {
      await allEnded([commands.close(), super.close()]);
    }
  }
  return new AgentBashBackend({ rootDir: commands.folder, virtualMode }) as InstanceType<T>;
}
