import { bash, type LedgerEntry, type ReadLedgerOptions, readLedger } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { Projects } from './board/project.ts';
import { commandOf, findingsOf } from './command.ts';
import { Refusal } from './http/guard.ts';
import type { HistoryBar, HistoryEntry, PageDetails, PageHistory, Project } from './wire.ts';

/** Runs in one response. */
const SENT = 200;
/** Most runs that are counted. */
const COUNTED = 20_000;
const BARS = 48;
/** Time in ms by which a clock may have been set back between a start and its entry. */
const CLOCK_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** Reads the history: the runs of the ledger, and which of them can be undone. */
export class History {
  readonly #projects = new Projects();

  /** Returns the newest runs that match the parameters of a URL, and the counts of all matching runs. */
  async list(parameters: URLSearchParams): Promise<PageHistory> {
    const { target, ...query } = queryOf(parameters);
    const newest: LedgerEntry[] = [];
    const numbers = new Numbers(query);
    const projects = new Map<string, Project>();
    const agents = new Set<string>();
    const targets = new Set<string>();
    for await (const entry of readLedger(query)) {
      if (target !== undefined && entry.target !== target) continue;
      if (!numbers.add(entry)) break;
      if (newest.length < SENT) newest.push(entry);
      const project = this.#projects.of(entry);
      projects.set(project.path, project);
      if (entry.actor?.agent) agents.add(entry.actor.agent);
      if (entry.target !== null) targets.add(entry.target);
    }
    return {
      entries: await this.#shown(newest),
      ...numbers.result(),
      projects: [...projects.values()].sort((one, other) => one.name.localeCompare(other.name)),
      agents: [...agents].sort(),
      targets: [...targets].sort(),
    };
  }

  /** Returns the newest runs since a moment, the oldest first. */
  async newest(since: number, limit: number): Promise<HistoryEntry[]> {
    const entries: LedgerEntry[] = [];
    for await (const entry of readLedger({ since, limit })) entries.unshift(entry);
    return this.#shown(entries);
  }

  /** Calls `refused` for each command that is refused from now on, until the signal aborts. */
  async refusals(signal: AbortSignal, refused: () => void): Promise<void> {
    for await (const { state } of readLedger({ since: Date.now(), follow: true, signal })) {
      if (state === 'refused') refused();
    }
  }

  /** Returns one run; `null` if the ledger does not have it. With its start, only files since then are read. */
  async entry(runId: string, startedAt = 0): Promise<LedgerEntry | null> {
    const since = Math.max(0, startedAt - CLOCK_MS);
    for await (const entry of readLedger({ runId, since, limit: 1 })) return entry;
    return null;
  }

  /** Returns all about a run that is known of it beyond its state. */
  async details(runId: string): Promise<PageDetails> {
    const entry = runId === '' ? null : await this.entry(runId);
    if (!entry) return { findings: [], entry: null };
    const [shown = null] = await this.#shown([entry]);
    return { findings: findingsOf(entry.command, entry.cwd), entry: shown };
  }

  async #shown(entries: LedgerEntry[]): Promise<HistoryEntry[]> {
    const runIds = entries.map(({ runId }) => runId);
    const points = await innerOf(bash)
      .undoPointsOf(runIds)
      .catch(() => []);
    const covers = new Map(points.map((point) => [point.runId, point.covers]));
    return entries.map((entry) => ({
      ...entry,
      ...commandOf(entry.command),
      project: this.#projects.of(entry),
      undo: covers.get(entry.runId) ?? null,
    }));
  }
}

/** The counts of runs, in total and by time. */
class Numbers {
  readonly #until: number;
  #from: number;
  readonly #times: [startedAt: number, failed: boolean][] = [];
  #lost = 0;
  #more = false;

  constructor({ since, until }: ReadLedgerOptions) {
    this.#until = Math.min(Date.now(), Number(until ?? Number.POSITIVE_INFINITY));
    this.#from = since === undefined ? this.#until - DAY_MS : Number(since);
  }

  /** Counts a run. Returns false if there are more than are counted. */
  add(entry: LedgerEntry): boolean {
    this.#more = this.#times.length >= COUNTED;
    if (this.#more) return false;
    this.#times.push([entry.startedAt, isFailed(entry)]);
    if (entry.state === 'lost') this.#lost += 1;
    this.#from = Math.min(this.#from, entry.startedAt);
    return true;
  }

  result(): Pick<PageHistory, 'runs' | 'failed' | 'lost' | 'more' | 'from' | 'until' | 'bars'> {
    const bars: HistoryBar[] = Array.from({ length: BARS }, () => ({ runs: 0, failed: 0 }));
    const width = Math.max(1, (this.#until - this.#from) / BARS);
    for (const [startedAt, failed] of this.#times) {
      const bar = bars[Math.min(BARS - 1, Math.max(0, Math.floor((startedAt - this.#from) / width)))] as HistoryBar;
      bar.runs += 1;
      if (failed) bar.failed += 1;
    }
    const failed = bars.reduce((sum, bar) => sum + bar.failed, 0);
    const [lost, more, from, until] = [this.#lost, this.#more, this.#from, this.#until];
    return { runs: this.#times.length, failed, lost, more, from, until, bars };
  }
}

/** Returns whether a run failed, by the definition of the ledger's filter. */
function isFailed({ state, exitCode }: LedgerEntry): boolean {
  return state === 'exited' ? exitCode !== 0 : state !== 'running' && state !== 'backgrounded';
}

/** The filters of a URL, each with the function that reads its value. */
const FILTERS: Record<string, (value: string, name: string) => string | number | boolean> = {
  cwd: String,
  agent: String,
  changed: String,
  text: String,
  runId: String,
  target: String,
  since: timeOf,
  until: timeOf,
  failed: flagOf,
};

/** The filters of the ledger, and the target, by which the page filters itself. */
type HistoryQuery = ReadLedgerOptions & { target?: string };

/** Returns the filters of a URL without the empty ones. Throws `Refusal` for an unknown, repeated or wrong filter. */
function queryOf(parameters: URLSearchParams): HistoryQuery {
  const query: Record<string, unknown> = {};
  for (const [name, value] of parameters) {
    const read = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
    if (!read) throw new Refusal(400, 'invalid', 'there is no such filter');
    if (Object.hasOwn(query, name)) throw new Refusal(400, 'invalid', `${name} is given twice`);
    if (value !== '') query[name] = read(value, name);
  }
  return query;
}

function timeOf(value: string, name: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new Refusal(400, 'invalid', `${name} is not a time in ms`);
  return Number(value);
}

function flagOf(value: string, name: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Refusal(400, 'invalid', `${name} is not true or false`);
  return value === 'true';
}
