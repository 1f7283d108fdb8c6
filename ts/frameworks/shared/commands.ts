import { resolve } from 'node:path';
import { BashError, type BashOptions, type BashResult, bash, type Target } from 'agent-bash';
import { createBashTool } from '../../ai/bash-tool.ts';
import { definedOnly } from '../../core/defined.ts';
import { checkFunctions } from '../../core/functions.ts';
import { innerOf } from '../../core/inner.ts';
import { DECIDED, type Decided } from '../../core/ledger.ts';
import { failureOf } from '../../core/listener.ts';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { OWNER, type Owned } from '../../core/world.ts';
import { checkTarget, denialOf, diskBase, isConfined } from '../../sandbox/base.ts';
import { commandDisk } from '../../sandbox/command-disk.ts';
import { type Disk, HOST_DISK } from '../../sandbox/disk.ts';
import { type Order, start } from '../../sandbox/start.ts';
import { approvedNotes, approvedOptions, NOT_RUN, unattended } from '../../tool/call/judge.ts';
import { checkOptionNames, innerOptions } from '../../tool/options.ts';
import { Approver, OF_APPROVALS } from './approver.ts';
import { Lifetime } from './lifetime.ts';
import { refuseBackground } from './needs.ts';
import { refusal, told } from './told.ts';
import type { OnAsk, Run } from './types.ts';

/** A command of a framework: what it sets itself, over the options of the adapter. */
export interface Command extends BashOptions {
  /** The framework's id of the call. */
  toolCallId?: string | undefined;
  /** The framework's own question. */
  ask?: OnAsk | undefined;
  /**
   * Runs the command, for callers that hold its streams. Called only if it may run, with all options.
   *
   * @default bash
   */
  start?: ((command: string, options: BashOptions) => Promise<BashResult>) | undefined;
  /**
   * The part of the commands that this one belongs to.
   *
   * @default all
   */
  lifetime?: Lifetime | undefined;
}

/** The end of a command that also did not run. */
export interface Settled extends Pick<BashResult, 'exitCode' | 'stdout'> {
  /** What a model reads in place of `stdout`, if that was reduced. */
  view: string | undefined;
  /** What a model must know besides. */
  more: string;
  /** Whether `stdout` was cut. */
  truncated: boolean;
}

/** Runs the commands of one adapter, for frameworks that have the tool themselves. */
export class Commands {
  /** The options of each command. */
  readonly options: BashOptions;
  /** The target that runs the commands and has the files. */
  readonly target: Target | undefined;
  /** The directory that relative ones of commands start at, absolute. */
  readonly folder: string;
  /** All that the commands have started. */
  readonly lifetime: Lifetime;
  readonly #approver: Approver;
  readonly #onAfterRun: Run['onAfterRun'];

  /**
   * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for those that have no place here.
   * `more` are the adapter's own options, which are not among `given`, for the hint at a misspelt one.
   */
  constructor(entry: string, given: Run, more: OptionTable = {}) {
    checkOptionNames(entry, given, { ...innerOptions().bash, ...OF_RUNS, ...more });
    const { approval, onAfterRun, ...options } = given;
    checkFunctions(innerOf(bash), { onAfterRun });
    innerOf(bash).check(':', options);
    refuseBackground(options, 'each command runs to its end or its limit');
    checkTarget(options.target);
    this.target = options.target;
    this.folder = resolve(options.target?.info.cwd ?? '.', options.cwd ?? '.');
    this.options = options;
    this.#onAfterRun = onAfterRun;
    this.lifetime = new Lifetime(this.folder, options, options.registry !== undefined);
    this.#approver = new Approver(this.#judgedAs(options), approval);
  }

  /** Whether no limit is set: the framework's own, or none, applies. */
  get isUnlimited(): boolean {
    return this.options.timeoutMs === undefined && this.options.mode === undefined;
  }

  /** Judges a command, for frameworks that ask in their own way. */
  judge(command: string, { cwd, env, toolCallId = '', signal }: Command) {
    return this.#approver.judge({ command }, { toolCallId, signal, context: this.#place(cwd, env) });
  }

  /**
   * Runs a command to its end, once rules and people have let it. Rejects with `ERR_BASH_BLOCKED` for a refused one,
   * and as `bash()` does if nothing could be run. Without a limit of the adapter or the call there is none.
   */
  async run(command: string, { start = bash, ...given }: Command = {}): Promise<BashResult> {
    const unlimited = this.isUnlimited && given.timeoutMs === undefined;
    const timeoutMs = unlimited ? innerOf(bash).facts().request.maxLimitMs : given.timeoutMs;
    const call = { ...given, timeoutMs };
    const { begun, approved } = await this.begin(command, call, start, ({ survivors }) => survivors);
    return this.#heard(command, approved ? { ...begun, notes: approvedNotes(begun.notes) } : begun);
  }

  /**
   * Runs a command and never rejects, for frameworks that have no error of their own: what did not run is exit code
   * 126, with the reason as what a model must know. `callOf` may throw such a reason.
   */
  async settle(command: string, callOf: () => Command): Promise<Settled> {
    try {
      const call = callOf();
      const result = await this.run(command, call);
      const { exitCode, stdout, view, truncation } = result;
      const more = told(result, resolve(this.folder, call.cwd ?? '.'), true);
      return { exitCode, stdout, view: view?.text, more, truncated: truncation.stdout !== null };
    } catch (error) {
      return { exitCode: NOT_RUN, stdout: '', view: undefined, more: refusal(error), truncated: false };
    }
  }

  /**
   * Begins work on a command, once rules and people have let it, with the options for it. Returns what it resolves
   * with, and whether a person has approved. Rejects as `run` does.
   */
  async begin<T>(
    command: string,
    { toolCallId = '', ask, lifetime = this.lifetime, ...own }: Omit<Command, 'start'>,
    start: (command: string, options: BashOptions) => Promise<T>,
    survivorsOf: (begun: T) => BashResult['survivors'] = () => [],
  ): Promise<{ begun: T; approved: boolean }> {
    const { options } = this;
    const call = definedOnly(own);
    const place = this.#place(call.cwd, call.env);
    const signals = [options.signal, call.signal];
    const work = async (signal: AbortSignal) => {
      const verdict = await this.#approver.decide({ command }, { toolCallId, signal, context: place }, ask);
      // An aborted call starts nothing and is no refusal.
      if (!verdict.runs && !signal.aborted) throw new BashError('ERR_BASH_BLOCKED', verdict.reason);
      const approved = verdict.runs && verdict.approved;
      const merged: BashOptions & Owned & Decided = {
        ...(verdict.runs && verdict.decided ? options : unattended(options)),
        ...call,
        ...place,
        env: { ...place.env, ...lifetime.mark },
        onTimeout: 'kill',
        onOutput: both(options.onOutput, call.onOutput),
        signal,
        [OWNER]: lifetime.owner,
        ...(approved && { safety: approvedOptions(options).safety, [DECIDED]: 'host' }),
      };
      return { begun: await start(command, merged), approved };
    };
    return await lifetime.during(signals, work, ({ begun }) => survivorsOf(begun));
  }

  /** Leaves it to an approval of the framework to ask people. */
  leaveAsking(): void {
    this.#approver.leaveAsking();
  }

  /** Refuses what these rules match from now on, as `approval.deny` does. */
  forbid(rules: readonly string[]): void {
    this.#approver.forbid(rules);
  }

  /** The files that commands reach: those of their world, of their target, or both. */
  get disk(): Disk {
    const { owner } = this.lifetime;
    const { confine = innerOf(bash).defaults.confine, ...options } = this.options;
    const base = diskBase({ ...options, target: this.target, confine, cwd: this.folder, [OWNER]: owner });
    if (!base.target && !isConfined(base)) return HOST_DISK;
    const launch = (order: Order) => this.lifetime.add(start(base, withMark(order, this.lifetime.mark)));
    return commandDisk(launch, denialOf(base));
  }

  /** Ends all that runs and all that commands have left running. Resolves when it is gone. */
  close(): Promise<void> {
    return this.lifetime.end();
  }

  /** Returns the directory and the variables of a call. */
  #place(cwd: string | undefined, env: BashOptions['env']): { cwd: string; env: NonNullable<BashOptions['env']> } {
    return { cwd: resolve(this.folder, cwd ?? '.'), env: { ...this.options.env, ...env } };
  }

  /** Returns a tool with these options, as far as a judgement depends on them. */
  #judgedAs({ env, inheritEnv, safety, prefix, confine, undo, actor, ledger = false }: BashOptions) {
    const judged = { cwd: this.folder, env, inheritEnv, safety, prefix, confine, undo, actor, ledger };
    const owned: Owned = { [OWNER]: this.lifetime.owner };
    return createBashTool({ ...judged, ...owned, perCall: ({ context }) => context as Partial<BashOptions> });
  }

  async #heard(command: string, result: BashResult): Promise<BashResult> {
    const failure = await failureOf(() => this.#onAfterRun?.({ command, result }));
    return failure === undefined ? result : { ...result, notes: [...result.notes, `onAfterRun failed: ${failure}`] };
  }
}

/** The options of a framework's commands that `bash()` does not have. */
const OF_RUNS: OptionTable = { approval: { fields: OF_APPROVALS }, onAfterRun: PLAIN };

/** Returns a listener that calls both, the host's first. */
function both(host: BashOptions['onOutput'], framework: BashOptions['onOutput']): BashOptions['onOutput'] {
  if (host === undefined || framework === undefined) return host ?? framework;
  return async (chunk) => {
    await host(chunk);
    await framework(chunk);
  };
}

function withMark(order: Order, mark: Record<string, string>): Order {
  return { ...order, env: { ...order.env, ...mark } };
}
