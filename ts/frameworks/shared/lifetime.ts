import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { linkedAbort } from '../../core/abort.ts';
import { innerOf } from '../../core/inner.ts';
import type { Owner } from '../../core/world.ts';
import type { Processes } from '../../sandbox/processes.ts';
import { Running } from '../../sandbox/running.ts';
import type { Started } from '../../sandbox/start.ts';
import { closeDrafts } from '../../tool/call/draft.ts';

/** The machine that runs the commands of an adapter, and the grace of their ends. */
type Placed = Pick<BashOptions, 'affinity' | 'graceMs' | 'target'>;

/** All that one adapter has started: what runs, the processes that commands have left, and the worlds of both. */
export class Lifetime {
  /** The owner of the worlds of confined commands. */
  readonly owner: Owner;
  readonly #running: Running;
  readonly #sharesTasks: boolean;
  readonly #place: Placed;
  readonly #outer: Lifetime | undefined;

  /** `sharesTasks`: whether tasks belong to a registry of the host, which outlives the adapter. */
  constructor(folder: string, place: Placed, sharesTasks: boolean, outer?: Lifetime) {
    this.owner = outer?.owner ?? innerOf(bash).newOwner(folder);
    this.#running = new Running(place);
    this.#sharesTasks = sharesTasks;
    this.#place = place;
    this.#outer = outer;
  }

  /** Makes a lifetime for a part of the commands, with the same worlds. It ends by itself, and not with this one. */
  within(): Lifetime {
    return new Lifetime('', this.#place, this.#sharesTasks, this);
  }

  /** The processes of the machine that runs the commands. */
  get processes(): Processes {
    return this.#running.processes;
  }

  /** The variable by which processes of this adapter are found. Each command gets it, unless it may become a task. */
  get mark(): Record<string, string> {
    return this.#sharesTasks ? {} : this.#running.mark;
  }

  /** Does work that ends by its signal: when one of `signals` aborts, or this lifetime is over. */
  async during<T>(
    signals: readonly (AbortSignal | undefined)[],
    work: (signal: AbortSignal) => Promise<T>,
    survivorsOf: (result: T) => BashResult['survivors'],
  ): Promise<T> {
    const { controller, unlink } = linkedAbort(signals);
    const working = work(controller.signal).finally(unlink);
    this.#running.add({
      pid: Promise.resolve(null),
      ended: working.then((result) => ({ survivors: survivorsOf(result).filter((left) => this.#isOurs(left)) })),
      abort: () => controller.abort(),
    });
    return await working;
  }

  /** Tracks a command of the adapter's own until it has ended. */
  add<T extends Started>(command: T): T {
    return this.#running.add(command);
  }

  #isOurs({ taskId }: BashResult['survivors'][number]): boolean {
    return !(this.#sharesTasks && taskId);
  }

  /** Ends everything. Resolves when it is gone. */
  async end(): Promise<void> {
    await this.#running.end();
    if (this.#outer !== undefined) return;
    await closeDrafts(this.owner);
    this.owner.end();
  }
}
