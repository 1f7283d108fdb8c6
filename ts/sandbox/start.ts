import { resolve } from 'node:path';
import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { onAbort } from '../abort.ts';
import { STREAMS, type Streams } from '../streams.ts';
import type { Base } from './base.ts';
import type { Listener } from './output.ts';

/** A day, the longest limit there is: as good as none. */
const NO_LIMIT_MS = 86_400_000;

/** A command as a sandbox starts it. */
export interface Order {
  /** What bash is given. */
  command: string;
  /** Its positional parameters. */
  args?: string[];
  /** The folder to start in, relative to the sandbox's. */
  cwd?: string | undefined;
  /** Laid over the variables of the sandbox. */
  env?: Record<string, string> | undefined;
  /** Ends it, as `abort` does. */
  signal?: AbortSignal | undefined;
  /** Hears all output, and holds the command back while it is not ready. */
  onOutput: Listener;
  /** For one whose streams are wanted as such. */
  streams?: Pick<Streams, 'bytes' | 'fed' | 'over'> & { started?: Streams['started'] };
}

/** A command that was started and has not ended yet. */
export interface Started {
  /** Resolves when it runs, with its pid; with `null` when it ended without having been started. Rejects when nothing could be run. `null` at once without `streams`. */
  pid: Promise<number | null>;
  /** Rejects when nothing could be run. */
  ended: Promise<Ended>;
  /** Ends it as its signal would. */
  abort(): void;
}

/** What became of it. */
export interface Ended {
  exitCode: number;
  aborted: boolean;
  survivors: BashResult['survivors'];
}

/** Starts a command with a sandbox's options: output whole and unchanged and no time limit, unless they say otherwise. */
export function start(base: Base, order: Order): Started {
  const abort = linkedAbort([base.signal, order.signal]);
  let resolvePid: (pid: number | null) => void = () => {};
  const told = new Promise<number | null>((settle) => {
    resolvePid = settle;
  });
  const { streams } = order;
  const options: BashOptions & { [STREAMS]?: Streams } = {
    sanitize: false,
    ...(base.mode === undefined ? { timeoutMs: NO_LIMIT_MS } : {}),
    ...definedOnly(base),
    cwd: resolve(base.cwd, order.cwd ?? '.'),
    env: { ...base.env, ...order.env },
    args: order.args,
    signal: abort.controller.signal,
    // All of it arrives here; the result's own copy would only be a second one.
    truncate: { keep: 'tail', maxBytes: 1 },
    spill: false,
    onTimeout: 'kill',
    onOutput: order.onOutput,
  };
  if (streams) {
    const { started } = streams;
    options[STREAMS] = {
      ...streams,
      started: (pid, input) => {
        started?.(pid, input);
        resolvePid(pid);
      },
    };
  }
  const ended = bash(order.command, options)
    .finally(abort.unlink)
    // Nothing is ever moved to the background here, so that there is an exit code.
    .then(({ exitCode, status, survivors }) => ({ exitCode: exitCode ?? 0, aborted: status === 'aborted', survivors }));
  return {
    pid: Promise.race([told, ended.then(() => null)]),
    ended,
    abort: () => abort.controller.abort(),
  };
}

/** A controller that others abort too, until `unlink`; by hand, since `AbortSignal.any` keeps a trace on long-lived signals. */
function linkedAbort(signals: (AbortSignal | undefined)[]): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const linked = signals.filter((signal) => signal !== undefined);
  if (linked.some((signal) => signal.aborted)) abort();
  const unlinks = linked.map((signal) => onAbort(signal, abort));
  return {
    controller,
    unlink: () => {
      for (const unlink of unlinks) unlink();
    },
  };
}

/** The entries that have a value: `undefined` counts as left out. */
export function definedOnly<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
