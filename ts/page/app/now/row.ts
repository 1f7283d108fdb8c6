import { shortCommand } from '../base/command.ts';
import type { Context } from '../base/context.ts';
import { attribute, button, fill, h, hidden, show, text } from '../base/dom.ts';
import { age, ago, nameOf, oneLine, percent, size } from '../base/format.ts';
import { icon } from '../base/icon.ts';
import type { LiveRun } from '../base/store.ts';
import { changedWords, type Stated, statedEnd } from '../base/words.ts';
import { portLink } from '../ports/link.ts';

/** CPU and memory use from which the number is highlighted. */
const HOT = { cores: 0.9, bytes: 1e9 };
/** Time in ms without a new line after which a run is called quiet. */
const QUIET_MS = 30_000;

/** Returns the state of a run as people read it. */
export function statedRun({ run, end }: LiveRun): Stated {
  if (end) return statedEnd(end);
  if (run.waiting?.why === 'prompt') return { word: 'asks', tone: 'ask', mark: 'ask' };
  if (run.waiting?.why === 'input') return { word: 'waits for input', tone: 'ask', mark: 'quiet' };
  if (run.waiting) return { word: 'stopped by a signal', tone: 'ask', mark: 'quiet' };
  return run.kind === 'task'
    ? { word: 'task', tone: 'live', mark: 'task' }
    : { word: 'running', tone: 'live', mark: 'run' };
}

/** Returns the state of a run as the ledger names it. */
export function stateOf({ run, end }: LiveRun): string {
  return end?.state ?? (run.kind === 'task' ? 'backgrounded' : 'running');
}

/** A run in the list, which keeps its element while it is listed. */
export class RunRow {
  readonly element: HTMLElement;
  readonly open: HTMLButtonElement;
  readonly #context: Context;
  readonly #mark = h('span', { class: 'mark' });
  readonly #ports = h('span');
  readonly #words = h('span');
  readonly #line = h('p', { class: 'line' }, this.#ports, this.#words);
  readonly #cpu = h('span');
  readonly #memory = h('span');
  readonly #time = h('time');
  readonly #stop: HTMLElement;
  #live: LiveRun;
  /** The last line and the time at which it arrived. */
  #last = { line: '', at: Date.now() };

  constructor(context: Context, live: LiveRun) {
    this.#context = context;
    this.#live = live;
    const { id, command } = live.run;
    this.open = button(null, () => context.choose(id), { class: 'open cmd' });
    const stop = button('Stop', () => context.stop(id), { class: 'btn btn-red' }, ` ${nameOf(command)}`);
    this.#stop = h('p', { class: 'act-row' }, stop);
    const cpu = h('span', { class: 'cpu' }, hidden('CPU '), this.#cpu, ' ');
    const memory = h('span', { class: 'mem' }, hidden('memory '), this.#memory, ' ');
    const numbers = h('p', { class: 'nums' }, cpu, memory, this.#time);
    this.element = h('li', { class: 'run' }, this.#mark, this.open, this.#line, numbers, this.#stop);
    this.update(live);
  }

  /** Shows the current state of the run. */
  update(live: LiveRun): void {
    this.#live = live;
    const { run, end } = live;
    const { store } = this.#context;
    const isChosen = store.chosen === run.id;
    const { mark, tone, word } = statedRun(live);
    fill(this.open, run.command, () => shortCommand(run));
    this.open.title = nameOf(run.command);
    // The line below has the state of a run that has ended.
    fill(this.#mark, `${mark} ${word}`, () => [icon(mark), !end && hidden(word)]);
    attribute(this.open, 'aria-current', isChosen && 'true');
    attribute(this.element, 'data-run', run.runId || run.id);
    attribute(this.element, 'data-state', stateOf(live));
    attribute(this.element, 'data-waits', end ? null : run.waiting?.why);
    attribute(this.element, 'data-tone', tone);
    for (const [name, is] of Object.entries({ chosen: isChosen, ended: end !== null })) {
      this.element.classList.toggle(name, is);
    }
    // A waiting run has this button in its card, and the chosen run beside its output.
    show(this.#stop, store.welcome.control && !end && !run.waiting && !isChosen);
    if (run.lastLine !== this.#last.line) this.#last = { line: run.lastLine, at: Date.now() };
    this.tick();
  }

  /** Updates what depends on the time. */
  tick(now = Date.now()): void {
    const { run, end, cpu } = this.#live;
    text(this.#time, end ? ago(now - end.endedAt) : age(now - run.startedAt));
    text(this.#cpu, end || cpu === null ? '–' : percent(cpu));
    text(this.#memory, end || !run.memory ? '–' : size(run.memory));
    this.#cpu.classList.toggle('hot', !end && (cpu ?? 0) >= HOT.cores);
    this.#memory.classList.toggle('hot', !end && (run.memory ?? 0) >= HOT.bytes);
    const said = this.#said(now);
    const ports = end ? [] : run.ports;
    const words = end ? '' : oneLine(run.lastLine);
    fill(this.#ports, JSON.stringify(ports), () => [...ports.map(portLink), ports.length > 0 && ' ']);
    fill(this.#words, JSON.stringify([said, words]), () => [said && h('em', {}, said, words && ' · '), words]);
  }

  #said(now: number): string {
    const { run, end } = this.#live;
    if (end) return endWords(end);
    if (run.waiting && run.waiting.why !== 'prompt') return statedRun(this.#live).word;
    const quiet = now - this.#last.at;
    return !run.waiting && run.kind === 'command' && quiet > QUIET_MS ? `quiet ${age(quiet)}` : '';
  }
}

/** Returns in words how a run ended and what it changed. */
function endWords(end: NonNullable<LiveRun['end']>): string {
  const parts = [
    end.state === 'lost' ? 'lost: its end was not seen' : statedEnd(end).word,
    end.denied > 0 ? `${end.denied} denied` : '',
    end.receipt ? changedWords(end.receipt) : '',
  ];
  return parts.filter(Boolean).join(' · ');
}
