import type { BashError } from 'agent-bash';
import { growingPauses, pause } from '../provider/pauses.ts';
import { errorLine, placeError } from '../provider/place-error.ts';
import { callProgram, type ProgramAnswer } from '../provider/program-call.ts';
import { failureOf, type KubectlFailure } from './failures.ts';
import type { SandboxSettings } from './options.ts';
import { GROUP, VERSION } from './resources.ts';

/** Time a call may take. An API server that hangs is not waited for. */
const CALL_MS = 10_000;
/**
 * Time in which failed calls are repeated, without their waiting for a turn: a restarted API server needs some seconds,
 * and more for its CRDs.
 */
const RETRY_MS = 20_000;

/** How a call is made. */
export interface KubectlCall {
  /** What is done, for the message: `'the claim x could not be created'`. */
  failing: string;
  stdin?: string;
  /** When attempts end in any case, `performance.now()`. */
  until?: number;
  /** Ends the pauses between attempts, never an attempt: what it does would not be known. */
  signal?: AbortSignal | undefined;
  /** Whether this failure is an answer, too. */
  accepts?: (failure: KubectlFailure) => boolean;
  /** Is told of each failed attempt that may have done its work all the same. */
  onDoubt?: () => void;
}

/** Calls kubectl. */
export class Kubectl {
  readonly #words: string[];

  constructor({ program, context }: SandboxSettings) {
    this.#words = [...program, ...(context === undefined ? [] : [`--context=${context}`])];
  }

  /** Calls until it succeeds. Rejects with the last failure. */
  async call(args: string[], call: KubectlCall): Promise<ProgramAnswer & { failure: KubectlFailure | null }> {
    const { until = Number.POSITIVE_INFINITY } = call;
    let repeatedUntil = performance.now() + RETRY_MS;
    for (const wait of growingPauses(100, 2_000)) {
      const left = Math.min(until, repeatedUntil) - performance.now();
      const answer = await this.#once(args, call.stdin, Math.max(1_000, Math.min(CALL_MS, Math.ceil(left))));
      if (answer.ok) return { ...answer, failure: null };
      const known = failureOf(answer);
      const group = known.about === 'kind' ? await this.#group() : null;
      const failure = group ? missingKind(known, group.stdout) : known;
      repeatedUntil += answer.waitedMs + (group?.waitedMs ?? 0);
      if (failure.passes) call.onDoubt?.();
      if (call.accepts?.(failure)) return { ...answer, failure };
      const over = call.signal?.aborted || performance.now() + wait > Math.min(until, repeatedUntil);
      if (!failure.passes || over) throw failed(call.failing, failure, answer);
      await pause(wait, call.signal);
    }
    throw new Error('unreachable');
  }

  /** Passes each event of a watch on, until the signal is aborted, the server ends the watch, or this time is over. */
  async watch(path: string, onLine: (line: string) => void, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const argv = [...this.#words, 'get', '--raw', path];
    await callProgram({ argv, timeoutMs, signal, onLine });
  }

  #once(args: string[], stdin: string | undefined, timeoutMs: number): Promise<ProgramAnswer> {
    const argv = [...this.#words, `--request-timeout=${Math.ceil(timeoutMs / 1_000)}s`, ...args];
    return callProgram({ argv, stdin, timeoutMs });
  }

  /** Asks for the versions of the group that the server has. */
  #group(): Promise<ProgramAnswer> {
    return this.#once(['get', '--raw', `/apis/${GROUP}`], undefined, CALL_MS);
  }
}

/**
 * Returns what the failure for a missing kind means on a server with these versions. The kind may come back after a
 * restart, unless the server lists an older version alone.
 */
function missingKind(failure: KubectlFailure, group: string): KubectlFailure {
  const versions = [...group.matchAll(/"version":\s*"([^"]+)"/g)].map(([, version]) => version);
  if (versions.length > 0 && !versions.includes(VERSION)) {
    const remedy = `the cluster has ${[...new Set(versions)].join(', ')} of ${GROUP} alone: install an agent-sandbox with ${VERSION}`;
    return { reason: 'unsupported', remedy, passes: false };
  }
  return {
    ...failure,
    remedy: `install agent-sandbox with its extensions: the cluster does not serve ${GROUP}/${VERSION}`,
  };
}

function failed(failing: string, { reason, remedy }: KubectlFailure, { timedOut, stderr }: ProgramAnswer): BashError {
  const said = timedOut ? 'kubectl had no answer in time' : errorLine(stderr);
  return placeError(reason, `${failing}: ${said}; ${remedy}`, stderr);
}
