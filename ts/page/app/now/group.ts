import { visible } from '../../../core/visible.ts';
import type { Context } from '../base/context.ts';
import { arrange, button, h, show, text } from '../base/dom.ts';
import { shortPath } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import type { LiveRun, Store } from '../base/store.ts';
import type { RunRow } from './row.ts';

/** Most rows of a group that are shown until a person asks for all. */
const SHOWN = 15;
/** Time in ms before a run that succeeded is folded. */
const STAYS_MS = 10_000;

/** The runs of one agent in one project. */
export interface Group {
  key: string;
  name: string;
  path: string;
  /** The target that runs them; `null`: the machine of the host. */
  target: string | null;
  agent: string;
  /** The pid of the host; `null` if it has ended. */
  pid: number | null;
  runs: LiveRun[];
}

/** Returns the groups of the runs. The runs of a group are sorted by their start. */
export function groupsOf(live: Iterable<LiveRun>, store: Store): Group[] {
  const groups = new Map<string, Group>();
  for (const one of live) {
    const { project, target } = one.run;
    const agent = store.agentOf(one.run);
    const pid = store.starterOf(one.run);
    const key = `${project.path}\n${agent}\n${pid}\n${target}`;
    const group = groups.get(key) ?? { key, ...project, target, agent, pid, runs: [] };
    group.runs.push(one);
    groups.set(key, group);
  }
  for (const { runs } of groups.values()) runs.sort((one, other) => one.run.startedAt - other.run.startedAt);
  return [...groups.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** A group in the list. */
export class GroupView {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #list = h('ul');
  readonly #ended = h('ul');
  readonly #who = h('span', { class: 'who' });
  readonly #gone = h('p', { class: 'group-note' });
  readonly #all: HTMLButtonElement;
  readonly #more: HTMLButtonElement;
  #isWhole = false;
  #isUnfolded = false;
  /** The ids of the folded runs. They change only while no person uses the list, so rows keep their place. */
  #folded = new Set<string>();

  constructor(context: Context, { name, path, target, agent, pid }: Group) {
    this.#context = context;
    const { home } = context.store.welcome;
    const toggle = (change: () => void) => () => {
      change();
      context.changed();
    };
    this.#all = button(
      null,
      toggle(() => (this.#isWhole = !this.#isWhole)),
      { class: 'more' },
    );
    this.#more = button(
      null,
      toggle(() => (this.#isUnfolded = !this.#isUnfolded)),
      { class: 'more' },
    );
    const place = target === null ? shortPath(path, home) : visible(`${path} on ${target}`);
    const where = h('span', { class: 'where', title: visible(path) }, place);
    const head = h('header', { class: 'group-head' }, h('h3', {}, visible(name)), where, this.#who);
    this.#gone.append(
      icon('lost'),
      h('span', {}, h('b', {}, 'The host has ended.'), ' Its task goes on and can be stopped here.'),
    );
    const parts = [head, this.#gone, this.#list, this.#all, this.#more, this.#ended];
    const label = [name, target && `on ${target}`, agent, pid === null ? 'host gone' : `pid ${pid}`]
      .filter(Boolean)
      .map(visible)
      .join(', ');
    this.element = h('section', { class: 'group', 'aria-label': label }, ...parts);
  }

  update({ runs, agent, pid }: Group, rowOf: (live: LiveRun) => RunRow, isStill: boolean): void {
    const { store } = this.#context;
    text(this.#who, [visible(agent), pid === null ? 'host gone' : `pid ${pid}`].filter(Boolean).join(' · '));
    show(this.#gone, pid === null && runs.some(({ end }) => !end));
    if (!isStill) this.#folded = new Set(runs.filter((one) => isOver(one) && one.run.id !== store.chosen).map(idOf));
    const folded = runs.filter((one) => this.#folded.has(idOf(one)));
    const open = runs.filter((one) => !this.#folded.has(idOf(one)));
    const shown = this.#isWhole ? open : open.slice(0, SHOWN);
    arrange(
      this.#list,
      shown.map((one) => rowOf(one).element),
    );
    show(this.#list, open.length > 0);
    text(this.#all, this.#isWhole ? `Show ${SHOWN}` : `Show all ${open.length}`);
    show(this.#all, open.length > SHOWN);
    text(this.#more, `${folded.length} that ended in the last 5 minutes`);
    show(this.#more, folded.length > 0);
    this.#more.setAttribute('aria-expanded', String(this.#isUnfolded));
    arrange(this.#ended, this.#isUnfolded ? folded.map((one) => rowOf(one).element) : []);
    show(this.#ended, this.#isUnfolded && folded.length > 0);
  }
}

function idOf({ run }: LiveRun): string {
  return run.id;
}

/** Returns whether a run ended some time ago and did not fail. */
function isOver({ end }: LiveRun): boolean {
  if (!end || Date.now() - end.endedAt < STAYS_MS) return false;
  return (end.state === 'exited' && end.exitCode === 0) || end.state === 'backgrounded' || end.state === 'aborted';
}
