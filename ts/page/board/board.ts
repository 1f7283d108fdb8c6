import type { Actor } from 'agent-bash';
import { commandOf, findingsOf } from '../command.ts';
import type { Ask, Change, Pool, Run } from '../host/protocol.ts';
import { POOLS } from '../host/read.ts';
import { bareEnd } from '../host/read-end.ts';
import type {
  PageAsk,
  PageChange,
  PageDraft,
  PageEnded,
  PageHost,
  PagePool,
  PageRun,
  PageState,
  Project,
} from '../wire.ts';
import { Projects } from './project.ts';

/** Most ended runs that are kept for tabs that are opened later. */
const KEPT = 100;
/** Most runs whose actors are remembered. */
const ACTORS = 1_000;
/** Most runs, and most asks, of one host that are shown. */
const SHOWN = 2_000;

/** Returns the id of a run or an ask of a host. */
export function idOf(host: string, key: string): string {
  return `${host}:${key}`;
}

/** Returns the key in its host of the run or ask with this id. */
export function keyOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

/** Returns the id of a task whose host has ended. */
export function idOfTask(taskId: string): string {
  return `task:${taskId}`;
}

type Listener = (change: PageChange) => void;

/**
 * The runs and asks of all hosts, and the runs that ended last. A task that several hosts report is shown once, under
 * the id that it got first.
 */
export class Board {
  readonly #hosts = new Map<string, PageHost>();
  readonly #runs = new Map<string, PageRun>();
  readonly #asks = new Map<string, PageAsk>();
  readonly #pools = new Map<string, PagePool>();
  readonly #ended = new Map<string, { run: PageRun; end: PageEnded }>();
  /** The ids of each task. The first is the one that is shown. */
  readonly #tasks = new Map<string, string[]>();
  /** The actors of runs whose hosts do not report them, by run id. */
  readonly #actors = new Map<string, Actor>();
  readonly #projects = new Projects();
  readonly #listeners = new Set<Listener>();
  #drafts: PageDraft[] = [];

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Everything that is shown now. */
  get state(): PageState {
    const ended = [...this.#ended.values()];
    return {
      runs: [...ended.map(({ run }) => run), ...[...this.#runs.values()].filter((run) => this.#isShown(run))],
      ended: ended.map(({ end }) => end),
      asks: [...this.#asks.values()],
      hosts: [...this.#hosts.values()],
      pools: [...this.#pools.values()],
      drafts: this.#drafts,
    };
  }

  /** Returns the live run with this id, shown or not. */
  run(id: string): PageRun | undefined {
    return this.#runs.get(id);
  }

  /** Returns the run with this id, live or recently ended. */
  known(id: string): PageRun | undefined {
    return this.#runs.get(id) ?? this.#ended.get(id)?.run;
  }

  /** Returns the live run that is shown with this run id. */
  byRunId(runId: string): PageRun | undefined {
    return [...this.#runs.values()].find((run) => run.runId === runId && this.#isShown(run));
  }

  /** Returns whether a run or task is live or recently ended. */
  hasRun(runId: string, taskId: string | null): boolean {
    const runs = [...this.#runs.values(), ...[...this.#ended.values()].map(({ run }) => run)];
    return runs.some((run) => run.runId === runId || (taskId !== null && run.taskId === taskId));
  }

  /** Shows a run that ended before this page knew of it. */
  past(run: PageRun, end: PageEnded): void {
    const change = empty();
    this.#keep(run, end);
    change.runs.push(run);
    change.ended.push(end);
    this.#emit(change);
  }

  ask(id: string): PageAsk | undefined {
    return this.#asks.get(id);
  }

  hasHost(host: string): boolean {
    return this.#hosts.has(host);
  }

  /** Forgets everything. Listeners are not told: no tab is open. */
  clear(): void {
    for (const map of [this.#hosts, this.#runs, this.#asks, this.#pools]) map.clear();
    for (const map of [this.#ended, this.#tasks, this.#actors]) map.clear();
    this.#drafts = [];
  }

  /** Returns whether a host other than `gone`, which has ended, reports this task. */
  isReported(taskId: string, gone?: string): boolean {
    const hosts = (this.#tasks.get(taskId) ?? []).map((id) => this.#runs.get(id)?.host ?? null);
    return hosts.some((host) => host !== null && host !== gone);
  }

  /**
   * Takes the state of a host that was connected. Returns the host's earlier runs that it no longer reports: they
   * ended, and their ends are not known.
   */
  connected({ id: name, pid, program, cwd }: PageHost, state: { runs: Run[]; asks: Ask[]; pools: Pool[] }): PageRun[] {
    this.#hosts.set(name, { id: name, pid, program, cwd });
    const ids = new Set([...state.runs, ...state.asks, ...state.pools].map(({ key }) => idOf(name, key)));
    const change = this.#changeOf(name, { ...state, ended: [], answered: [], poolsGone: [] });
    const lost = this.#keepOnly(name, ids, change);
    this.#emit({ ...change, hosts: [...this.#hosts.values()] });
    return lost;
  }

  changed(name: string, change: Change): void {
    this.#emit(this.#changeOf(name, change));
  }

  /** Removes a host that has ended. Returns its runs, whose ends are not known. */
  gone(name: string): PageRun[] {
    const change = empty();
    const lost = this.#keepOnly(name, new Set(), change);
    this.#hosts.delete(name);
    this.#emit({ ...change, hosts: [...this.#hosts.values()] });
    return lost;
  }

  /** Shows a task of a registry that no connected host reports. */
  task(run: Omit<PageRun, 'project' | 'tokens'> & { taskId: string }): void {
    const change = empty();
    // The ended host of the task reported more of it.
    const { runId, actor } = this.#runs.get(this.#tasks.get(run.taskId)?.[0] ?? '') ?? run;
    const project = this.#projects.of(run);
    this.#put({ ...run, ...commandOf(run.command), runId, actor, project }, change);
    this.#emit(change);
  }

  /** Sets the actor of a run. */
  owned(runId: string, actor: Actor): void {
    this.#actors.set(runId, actor);
    if (this.#actors.size > ACTORS) this.#actors.delete(this.#actors.keys().next().value as string);
    const change = empty();
    for (const run of this.#runs.values()) if (run.runId === runId) this.#put(run, change);
    this.#emit(change);
  }

  /** Sets all drafts, each with its conflicts. */
  drafted(drafts: Omit<PageDraft, 'project'>[]): void {
    const shown = drafts.map((draft) => ({ ...draft, project: this.#projectOf(draft.root) }));
    if (JSON.stringify(shown) === JSON.stringify(this.#drafts)) return;
    this.#drafts = shown;
    this.#emit({ ...empty(), drafts: shown });
  }

  /** Sets the end of a run. */
  end(end: PageEnded): void {
    const change = empty();
    this.#end(end, change);
    this.#emit(change);
  }

  #changeOf(host: string, { runs, ended, asks, answered, pools, poolsGone }: Change): PageChange {
    const change = empty();
    for (const { key, ...run } of runs) {
      const id = idOf(host, key);
      if (this.#isFull(this.#runs, id, host)) continue;
      const shown = commandOf(run.command, this.#runs.get(id));
      this.#put({ ...run, ...shown, id, host, project: this.#projects.of(run) }, change);
    }
    for (const { key, ...end } of ended) this.#end({ ...end, id: idOf(host, key) }, change);
    for (const { key, ...ask } of asks) {
      const id = idOf(host, key);
      if (this.#isFull(this.#asks, id, host)) continue;
      const findings = findingsOf(ask.command, ask.cwd);
      const shown = { ...commandOf(ask.command), findings, project: this.#projectOf(ask.cwd) };
      const made = { ...ask, ...shown, id, host };
      this.#asks.set(made.id, made);
      change.asks.push(made);
    }
    for (const key of answered) this.#answered(idOf(host, key), change);
    for (const { key, ...pool } of pools) {
      const made = { ...pool, id: idOf(host, key), host };
      if (this.#isFull(this.#pools, made.id, host, POOLS)) continue;
      this.#pools.set(made.id, made);
      change.pools.push(made);
    }
    for (const key of poolsGone) this.#poolGone(idOf(host, key), change);
    return change;
  }

  /** Returns whether another run, ask or pool of a host would exceed the most that are shown. */
  #isFull(known: Map<string, { host: string | null }>, id: string, host: string, most = SHOWN): boolean {
    if (known.size < most || known.has(id)) return false;
    return [...known.values()].filter((one) => one.host === host).length >= most;
  }

  /** Returns the project of a directory of this machine. */
  #projectOf(cwd: string): Project {
    return this.#projects.of({ cwd, target: null });
  }

  #isShown({ id, taskId }: PageRun): boolean {
    return taskId === null || this.#tasks.get(taskId)?.[0] === id;
  }

  #put(given: PageRun, change: PageChange): void {
    const run = { ...given, actor: given.actor ?? this.#actors.get(given.runId) ?? null };
    this.#runs.set(run.id, run);
    // A host that was connected again reports runs that seemed lost.
    this.#ended.delete(run.id);
    // A run that was read from the ledger has its run id. Its host reports more of it.
    if (run.runId !== run.id && this.#ended.delete(run.runId)) change.removed.push(run.runId);
    if (run.taskId !== null) this.#named(run.taskId, run, change);
    if (this.#isShown(run)) change.runs.push(run);
  }

  #named(taskId: string, { id, host }: PageRun, change: PageChange): void {
    const names = this.#tasks.get(taskId) ?? [];
    this.#tasks.set(taskId, names);
    if (names.includes(id)) return;
    const first = this.#runs.get(names[0] ?? '');
    // A host reports more of a task than its files contain.
    if (first && first.host === null && host !== null) {
      names.unshift(id);
      change.removed.push(first.id);
    } else names.push(id);
  }

  #end(end: PageEnded, change: PageChange): void {
    const known = this.known(end.id);
    if (!known) return;
    const names = this.#tasks.get(known.taskId ?? '') ?? [end.id];
    // A task has ended when the last host reports it. Any other host may only have closed its registry.
    if (names.some((id) => id !== end.id && this.#runs.get(id)?.host != null)) {
      this.#forget(known, names, change);
      return;
    }
    const run = this.known(names[0] ?? end.id) ?? known;
    for (const id of [...names, end.id]) this.#runs.delete(id);
    if (run.taskId !== null) this.#tasks.delete(run.taskId);
    const shown = { ...end, id: run.id };
    this.#keep(run, shown);
    change.ended.push(shown);
  }

  #keep(run: PageRun, end: PageEnded): void {
    this.#ended.set(run.id, { run, end });
    if (this.#ended.size > KEPT) this.#ended.delete(this.#ended.keys().next().value as string);
  }

  /** Removes the runs, asks and pools of a host other than those with these ids. Returns the runs that are now lost. */
  #keepOnly(name: string, ids: Set<string>, change: PageChange): PageRun[] {
    const isMissing = ({ host, id }: { host: string | null; id: string }) => host === name && !ids.has(id);
    const lost = this.#drop([...this.#runs.values()].filter(isMissing), change);
    for (const ask of [...this.#asks.values()].filter(isMissing)) this.#answered(ask.id, change);
    for (const pool of [...this.#pools.values()].filter(isMissing)) this.#poolGone(pool.id, change);
    return lost;
  }

  /** Removes runs that their host no longer reports. Returns those that no other host reports, now lost. */
  #drop(runs: PageRun[], change: PageChange): PageRun[] {
    return runs.filter((run) => {
      const names = run.taskId === null ? [run.id] : (this.#tasks.get(run.taskId) ?? [run.id]);
      if (names.length === 1) {
        this.#end({ id: run.id, ...bareEnd('lost', Date.now()) }, change);
        return true;
      }
      this.#forget(run, names, change);
      return false;
    });
  }

  /** Removes one of the ids of a task. */
  #forget({ id }: PageRun, names: string[], change: PageChange): void {
    this.#runs.delete(id);
    const wasShown = names[0] === id;
    if (names.includes(id)) names.splice(names.indexOf(id), 1);
    const next = this.#runs.get(names[0] ?? '');
    if (!wasShown) return;
    change.removed.push(id);
    if (next) change.runs.push(next);
  }

  #answered(id: string, change: PageChange): void {
    if (this.#asks.delete(id)) change.answered.push(id);
  }

  #poolGone(id: string, change: PageChange): void {
    if (this.#pools.delete(id)) change.poolsGone.push(id);
  }

  #emit(change: PageChange): void {
    const { hosts, drafts, ...lists } = change;
    if (!hosts && !drafts && Object.values(lists).every((list) => list.length === 0)) return;
    for (const listener of this.#listeners) listener(change);
  }
}

function empty(): PageChange {
  return {
    ...{ runs: [], ended: [], asks: [], answered: [], removed: [], pools: [], poolsGone: [] },
    ...{ hosts: null, drafts: null },
  };
}
