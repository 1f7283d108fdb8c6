import type { LedgerEntry } from 'agent-bash';
import { visible } from '../../../core/visible.ts';
import { h } from '../base/dom.ts';
import { clock, day, duration, percent, shortPath, size } from '../base/format.ts';
import type { LiveRun } from '../base/store.ts';
import { changedWords } from '../base/words.ts';

/** The name and the value of a fact. A fact with the value `''` is not shown. */
export type Fact = [name: string, value: string | Node];

/** Makes a list of facts. */
export function factList(facts: readonly Fact[]): HTMLElement[] {
  return facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
}

/** Returns the facts of a run of the view Now. */
export function factsOfRun({ run, end, cpu }: LiveRun, agent: string, home: string): Fact[] {
  const usage: Fact[] = end
    ? []
    : [
        ['CPU', cpu === null ? '' : percent(cpu)],
        ['Memory', run.memory ? size(run.memory) : ''],
        ['Processes', run.processes === null ? '' : String(run.processes)],
      ];
  return [
    ['Project', visible(run.project.name)],
    ['Agent', visible(agent)],
    ['Started', clock(run.startedAt)],
    ['Target', visible(run.target ?? '')],
    ['Directory', run.cwd === run.project.path ? '' : pathOf(run, home)],
    ['Limit', run.limitMs === null ? 'none' : duration(run.limitMs)],
    ...(run.idleMs === null ? [] : ([['Silence', `at most ${duration(run.idleMs)}`]] satisfies Fact[])),
    ...usage,
    ['Confined', run.confinement ?? 'no'],
    ...(run.size ? ([['Terminal', run.size.join(' × ')]] satisfies Fact[]) : []),
  ];
}

/** Returns the directory of a run. That of another machine has no home that is known here. */
function pathOf({ cwd, target }: Pick<LedgerEntry, 'cwd' | 'target'>, home: string): string {
  return target === null ? shortPath(cwd, home) : visible(cwd);
}

/** Returns the facts of a run of the ledger. Unless `isAlone`, those that `factsOfRun` returns are left out. */
export function factsOfEntry(entry: LedgerEntry, isAlone: boolean, project: string, home: string): Fact[] {
  const { usage, actor } = entry;
  const first: Fact[] = [
    ['Project', visible(project)],
    ['Agent', visible(actor?.agent ?? entry.host.program)],
    ['Started', `${day(entry.startedAt)}, ${clock(entry.startedAt)}`],
    ['Target', visible(entry.target ?? '')],
    ['Directory', pathOf(entry, home)],
    ['Confined', entry.confinement ?? 'no'],
  ];
  return [
    ...(isAlone ? first : []),
    ['Changed', isAlone && entry.receipt ? changedWords(entry.receipt) || 'no file' : ''],
    ['CPU time', usage ? duration(usage.userMs + usage.systemMs) : ''],
    ['Memory', usage ? size(usage.maxRssBytes) : ''],
    ['Session', visible(actor?.session ?? '')],
    ['User', visible(actor?.user ?? '')],
    [
      'Decided',
      entry.decidedBy === null
        ? ''
        : entry.decidedBy === 'page'
          ? 'by a person, on a page'
          : 'by a person, in the host',
    ],
    ['Used', visible([...new Set(entry.secrets.map(({ name }) => name))].join(', '))],
    ['Secrets', entry.redacted ? 'taken out of the command' : ''],
  ];
}
