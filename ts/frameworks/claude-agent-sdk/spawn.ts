import { type BashOptions, bash, type Confinement } from 'agent-bash';
import { definedOnly } from '../../core/defined.ts';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { PLAIN } from '../../core/option-names.ts';
import type { Ended } from '../../sandbox/output.ts';
import { checkOptionNames, innerOptions } from '../../tool/options.ts';
import { noPlace, refuseBackground } from '../shared/needs.ts';
import { ClaudeProcess, type Launch } from './process.ts';
import type { SpawnClaudeCode } from './types.ts';

/** The end of a Claude Code. */
export interface ClaudeEnd {
  /** `null` after a signal. */
  exitCode: number | null;
  signal: string | null;
  /** What its confinement denied, and how far it reached; `null` if it was not confined. */
  confinement: Confinement | null;
}

/** Options of `claudeSpawn`: those of `bash()` that a process with streams of its own can have. */
export type ClaudeSpawnOptions = BashOptions & {
  /**
   * Receives the standard error of Claude Code, in whole characters.
   *
   * @default none: it is dropped
   * @example claudeSpawn({ onStderr: (text) => void process.stderr.write(text) });
   */
  onStderr?: ((text: string) => void) | undefined;
  /**
   * Called once Claude Code has ended, before the SDK hears of it. A throw has no effect.
   *
   * @default none
   * @example claudeSpawn({ confine: 'workspace', onExit: ({ confinement }) => console.log(confinement) });
   */
  onExit?: ((end: ClaudeEnd) => void) | undefined;
};

const OF_SDK = 'Claude Code is a process of the SDK';
/** The options that hold for a process. The SDK has its streams and its environment, and its program is no command. */
const HELD: readonly (keyof BashOptions)[] = [
  'cwd',
  'mode',
  'timeoutMs',
  'idleTimeoutMs',
  'onTimeout',
  'graceMs',
  'signal',
  'shell',
  'warm',
  'limits',
  'confine',
  'receipt',
  'undo',
  'ledger',
  'actor',
];

/**
 * Makes the `spawnClaudeCodeProcess` of `query()`: the whole Claude Code runs with `confine` and `limits`, and ends
 * with all that it has started. It gets exactly the environment that the SDK gives; bash adds `PWD`, `SHLVL` and `_`,
 * and this package `AGENT_BASH_ID`, by which its processes are found, and the variables of a confinement. There is no
 * time limit unless `timeoutMs` or `mode` sets one.
 *
 * `kill(signal)` signals the process group. `SIGKILL`, the `signal` of the SDK and a limit end the whole tree. What
 * Claude Code leaves running, in whatever way it ends, is ended before `exit`, which has a code or a signal. What could
 * not start is an `error` event. `cwd` counts where the SDK has none. With `confine`, the directory is the root.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for those of commands, such as `env`,
 * `stdin` and `safety`.
 *
 * @example query({ prompt, options: { spawnClaudeCodeProcess: claudeSpawn({ limits: { memoryBytes: 4e9 } }) } });
 */
export function claudeSpawn(options: ClaudeSpawnOptions = {}): SpawnClaudeCode {
  checkOptionNames('claudeSpawn', options, { ...innerOptions().bash, onStderr: PLAIN, onExit: PLAIN });
  const { onStderr, onExit, ...base } = definedOnly(options);
  checkFunctions(innerOf(bash), { onStderr, onExit });
  const other = Object.keys(base).find((name) => !(HELD as readonly string[]).includes(name));
  if (other !== undefined) throw noPlace(other, OF_SDK);
  refuseBackground(base, OF_SDK);
  innerOf(bash).check(':', base);
  const onText = onStderr && (({ text }: { text: string }) => onStderr(text));
  const onEnd = ({ exitCode, signal, confinement }: Ended) => {
    try {
      onExit?.({ exitCode: signal === null ? exitCode : null, signal, confinement });
    } catch {
      // The SDK must hear of the end.
    }
  };
  return (launch: Launch) => new ClaudeProcess(launch, base, onText, onEnd);
}
