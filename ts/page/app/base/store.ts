import type {
  PageAsk,
  PageChange,
  PageDraft,
  PageEnded,
  PageEvents,
  PageHost,
  PagePool,
  PageRun,
  PageState,
  Welcome,
} from '../../wire.ts';
import { oneLine } from './format.ts';

/** Time in ms for which an ended run stays in the view Now. */
const STAYS_MS = 5 * 60_000;
/** Time in ms without new CPU time after which a run counts as idle. */
const IDLE_MS = 3_000;
/** Most ended runs in the view Now. */
const STAY = 100;

/** A run with its end, if it has ended, and its use of the processor. */
export interface LiveRun {
  run: PageRun;
  end: PageEnded | null;
  /** The number of processors that it uses; `null` if it is not known yet. */
  cpu: number | null;
  sample: { cpuMs: number; at: number } | null;
}

/** The state of the page: runs, questions, pools, hosts and drafts. */
export class Store {
  readonly runs = new Map<string, LiveRun>();
  readonly asks = new Map<string, PageAsk>();
  readonly pools = new Map<string, PagePool>();
  hosts: PageHost[] = [];
  drafts: PageDraft[] = [];
  /** All hosts so far, also those that have ended. */
  readonly known = new Map<string, PageHost>();
  welcome: Welcome = { stream: '', control: false, version: '', home: '' };
  /** The ids of questions that were answered in this tab. */
  readonly answered = new Set<string>();
  /** Whether the first state was received. */
  isFilled = false;
  /** The id of the open run or question, which stays even if it has ended. */
  chosen: string | null = null;

  /** Applies an event that is not about output. */
  apply(event: 'welcome' | 'state' | 'change', data: PageEvents[typeof event], now = Date.now()): void {
    if (event === 'welcome') this.welcome = data as Welcome;
    else if (event === 'state') this.#replace(data as PageState, now);
    else this.#change(data as PageChange, now);
  }

  /** Returns the agent that a run belongs to, or the program that runs it. */
  agentOf({ actor, host }: Pick<PageRun, 'actor' | 'host'>): string {
    if (actor?.agent) return oneLine(actor.agent);
    if (host === null) return '';
    return oneLine(this.known.get(host)?.program ?? '');
  }

  /** Returns the pid of the host that started a run; `null` if the host has ended. */
  starterOf({ runId, host }: Pick<PageRun, 'runId' | 'host'>): number | null {
    // Every host that has opened a directory reports its tasks, so the pid comes from the run id if possible.
    const pid = Number.parseInt(runId, 10) || (host === null ? null : (this.known.get(host)?.pid ?? null));
    return this.hosts.some((one) => one.pid === pid) ? pid : null;
  }

  /** Returns the runs that have not ended. */
  get live(): LiveRun[] {
    return [...this.runs.values()].filter(({ end }) => !end);
  }

  /** Returns the runs that wait for a person. */
  get waiting(): LiveRun[] {
    return this.live.filter(({ run }) => run.waiting !== null);
  }

  /** Removes old ended runs and marks idle runs. Returns whether anything changed. */
  tick(now = Date.now()): boolean {
    let changed = false;
    const ended = [...this.runs.values()].filter(({ end }) => end !== null).sort(byEnd);
    for (const [index, { run, end }] of ended.entries()) {
      const isOld = now - (end?.endedAt ?? 0) > STAYS_MS || index < ended.length - STAY;
      if (isOld && run.id !== this.chosen) changed = this.runs.delete(run.id) || changed;
    }
    for (const live of this.runs.values()) {
      if (live.cpu && live.sample && now - live.sample.at > IDLE_MS) {
        live.cpu = 0;
        changed = true;
      }
    }
    return changed;
  }

  #replace({ runs, ended, asks, hosts, pools, drafts }: PageState, now: number): void {
    const ids = new Set(runs.map(({ id }) => id));
    for (const [id, { end }] of [...this.runs]) if (!ids.has(id) && (id !== this.chosen || !end)) this.runs.delete(id);
    this.asks.clear();
    this.pools.clear();
    this.isFilled = true;
    this.#change({ runs, ended, asks, hosts, answered: [], removed: [], pools, poolsGone: [], drafts }, now);
    this.tick(now);
  }

  #change(change: PageChange, now: number): void {
    const { runs, ended, asks, answered, removed, hosts, pools, poolsGone, drafts } = change;
    for (const id of removed) this.runs.delete(id);
    for (const run of runs) this.runs.set(run.id, liveOf(run, this.runs.get(run.id), now));
    for (const end of ended) {
      const live = this.runs.get(end.id);
      if (live) live.end = end;
    }
    for (const ask of asks) this.asks.set(ask.id, ask);
    for (const id of answered) this.asks.delete(id);
    for (const pool of pools) this.pools.set(pool.id, pool);
    for (const id of poolsGone) this.pools.delete(id);
    if (hosts) this.hosts = hosts;
    if (drafts) this.drafts = drafts;
    for (const host of hosts ?? []) this.known.set(host.id, host);
  }
}

function liveOf(run: PageRun, before: LiveRun | undefined, now: number): LiveRun {
  const { cpuMs } = run;
  if (cpuMs === null) return { run, end: null, cpu: null, sample: null };
  if (!before?.sample) return { run, end: null, cpu: null, sample: { cpuMs, at: now } };
  const { sample } = before;
  if (cpuMs === sample.cpuMs) return { run, end: null, cpu: before.cpu, sample };
  const cpu = (cpuMs - sample.cpuMs) / Math.max(500, now - sample.at);
  return { run, end: null, cpu: Math.max(0, cpu), sample: { cpuMs, at: now } };
}

function byEnd(one: LiveRun, other: LiveRun): number {
  return (one.end?.endedAt ?? 0) - (other.end?.endedAt ?? 0);
}
