import { setTimeout as pause } from 'node:timers/promises';
import type { Survivor } from 'agent-bash';
import { failure } from './errors.ts';
import type { Process, Processes } from './processes.ts';

/** Time after the first SIGKILL before the remaining processes are reported, in ms. */
const KILL_BOUND_MS = 5_000;

/**
 * The processes that a sandbox's commands left running. `bash` lists them and lets them live. A stopped sandbox ends
 * them. A process counts if it was listed, if it descends from a listed process, or if its environment carries the
 * mark.
 */
export class Leftovers {
  readonly #mark: string;
  readonly #graceMs: number;
  readonly #processes: Processes;
  /** Start times by pid. */
  readonly #known = new Map<number, string>();

  /** `mark` is the environment entry, `NAME=value`, of this sandbox's commands. */
  constructor(mark: string, graceMs: number, processes: Processes) {
    this.#mark = mark;
    this.#graceMs = graceMs;
    this.#processes = processes;
  }

  /** Remembers the survivors of a command. */
  async remember(survivors: Survivor[]): Promise<void> {
    if (survivors.length === 0) return;
    const alive = await this.#processes.list(this.#mark);
    for (const { pid } of survivors) {
      const process = alive.get(pid);
      if (process) this.#known.set(pid, process.started);
    }
  }

  /** Ends them: SIGTERM, the grace, then SIGKILL until none is left. */
  async end(): Promise<void> {
    const asked = new Set<string>();
    const begun = performance.now();
    // Counted from the first SIGKILL, not from the grace: on a busy machine no round may have run in between.
    let killed: number | undefined;
    for (let wait = 5; ; wait = Math.min(wait * 2, 100)) {
      const left = this.#among(await this.#processes.list(this.#mark));
      if (left.length === 0) return this.#known.clear();
      const now = performance.now();
      if (killed !== undefined && now > killed + KILL_BOUND_MS)
        throw failure(
          'EPERM',
          `could not end what commands left running: pid ${left.map(({ pid }) => pid).join(', ')}`,
        );
      const kill = now - begun >= this.#graceMs;
      if (kill) killed ??= now;
      // Children are remembered before their parent dies.
      for (const { pid, started } of left) this.#known.set(pid, started);
      const unasked = left.filter((process) => !asked.has(identityOf(process)));
      for (const process of unasked) asked.add(identityOf(process));
      if (kill) await this.#processes.signal(left, ['SIGKILL']);
      else if (unasked.length > 0) await this.#processes.signal(unasked, ['SIGTERM', 'SIGCONT']);
      await pause(wait);
    }
  }

  #among(alive: Map<number, Process>): Process[] {
    const ours = new Map<number, boolean>();
    const isOurs = (process: Process | undefined): boolean => {
      if (process === undefined || process.pid === this.#processes.host) return false;
      const judged = ours.get(process.pid);
      if (judged !== undefined) return judged;
      ours.set(process.pid, false);
      const verdict =
        process.marked || this.#known.get(process.pid) === process.started || isOurs(alive.get(process.parent));
      ours.set(process.pid, verdict);
      return verdict;
    };
    return [...alive.values()].filter(isOurs);
  }
}

function identityOf({ pid, started }: Process): string {
  return `${pid} ${started}`;
}
