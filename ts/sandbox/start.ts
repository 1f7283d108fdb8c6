import { resolve } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { linkedAbort, unlessAborted } from '../core/abort.ts';
import { definedOnly } from '../core/defined.ts';
import { innerOf } from '../core/inner.ts';
import { type Streams, withStreams } from '../core/streams.ts';
import { OWNER, type Owned } from '../core/world.ts';
import type { Base } from './base.ts';
import type { Ended, Listener } from './output.ts';

/** The exit code of a command whose end is not known, as ssh has it. */
const LOST = 255;

/** A command to start in a sandbox. */
export interface Order {
  /** The text for bash. */
  command: string;
  /** The positional parameters. */
  args?: string[];
  /** The directory to start in, relative to the sandbox's. */
  cwd?: string | undefined;
  /** Variables that are added to the sandbox's variables or replace them. */
  env?: Record<string, string> | undefined;
  /** Ends the command, as `abort` does. */
  signal?: AbortSignal | undefined;
  /** Receives all output and holds the command back until it is ready. */
  onOutput: Listener;
  /** For a command whose streams the caller uses directly. */
  streams?: Pick<Streams, 'bytes' | 'fed' | 'over'> & { started?: Streams['started'] };
}

/** A command that has started and not exited. */
export interface Started {
  /**
   * Resolves with the pid once the command runs, or with `null` if it ended before it started. Rejects if nothing could
   * be run. Without `streams` it is `null` at once.
   */
  pid: Promise<number | null>;
  /** Rejects if nothing could be run. */
  ended: Promise<Ended>;
  /** Ends the command as its signal would. */
  abort(): void;
}

/**
 * Starts a command with a sandbox's options. The output is whole and unchanged and there is no time limit, unless the
 * options say otherwise. `ready` are options that take time to make, in place of `base`.
 */
export function start(base: Base, order: Order, ready?: Promise<Base> | undefined): Started {
  const abort = linkedAbort([base.signal, order.signal]);
  let resolvePid: (pid: number | null) => void = () => {};
  const told = new Promise<number | null>((settle) => {
    resolvePid = settle;
  });
  const { streams } = order;
  const started: Streams['started'] = (pid, input) => {
    streams?.started?.(pid, input);
    resolvePid(pid);
  };
  const run = (own: Base) => {
    const options = optionsOf(own, order, abort.controller.signal);
    return bash(order.command, streams ? withStreams(options, { ...streams, started }) : options);
  };
  const { signal: aborted } = abort.controller;
  // A command that is aborted before it can begin does not wait for its options.
  const begin = async (made: Promise<Base>) => {
    await unlessAborted(made, aborted);
    return run(aborted.aborted ? base : await made);
  };
  const ended = (ready ? begin(ready) : run(base))
    .finally(abort.unlink)
    // Nothing moves to the background here, so only a command that is lost has no exit code.
    .then(({ exitCode, status, target, signal, survivors, confinement, runId, receipt, undo }) => ({
      exitCode: exitCode ?? LOST,
      aborted: status === 'aborted',
      lost: status === 'lost' ? target : null,
      signal,
      survivors,
      confinement,
      runId,
      receipt,
      undo,
    }));
  return {
    pid: Promise.race([told, ended.then(() => null)]),
    ended,
    abort: () => abort.controller.abort(),
  };
}

function optionsOf(base: Base, order: Order, signal: AbortSignal): BashOptions & Owned {
  return {
    sanitize: false,
    ...(base.mode === undefined ? { timeoutMs: innerOf(bash).facts().request.maxLimitMs } : {}),
    ...definedOnly(base),
    cwd: resolve(base.cwd, order.cwd ?? '.'),
    env: { ...base.env, ...order.env },
    args: order.args,
    signal,
    // All output arrives here, so the result need not keep a second copy.
    truncate: { keep: 'tail', maxBytes: 1 },
    spill: false,
    onTimeout: 'kill',
    onOutput: order.onOutput,
    ...(base[OWNER] && { [OWNER]: base[OWNER] }),
  };
}
