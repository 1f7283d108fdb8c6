import { type BashOptions, type BashResult, bash, estimateTokens, type OutputStore, type View } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { linesOf } from '../../core/lines.ts';
import { messageOf } from '../../core/listener.ts';
import { visible } from '../../core/visible.ts';
import { type Earlier, KEEPING, type Keeper, type Kept, keeperOf, type Reduce } from '../../reduce/keeping.ts';
import { executorOf, isSandboxed, runsNatively } from '../executor.ts';
import { isBare, levelOf, type Place, VIEWS, type Viewed, withoutGaps } from '../options.ts';
import { sandboxDirectory } from '../sandbox/options.ts';
import { callFolder, toolFolder } from '../setup.ts';
import type {
  BashToolCheck,
  BashToolError,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
  BashToolRecalled,
  BashToolResult,
} from '../types.ts';
import type { CallPlan } from './validate.ts';

/** The parts of a message with results of tools, in the shapes of ai 6 and ai 7. */
interface Part {
  type?: unknown;
  content?: unknown;
  toolCallId?: unknown;
  output?: { value?: unknown } | null | undefined;
}

/**
 * Returns the texts that a model reads of calls of tools, by the id of the call, in the order of the messages. Empty if
 * the messages cannot be read.
 */
export function textsIn(messages: unknown): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  try {
    for (const { type, toolCallId, output } of partsOf(messages).flatMap(({ content }) => partsOf(content))) {
      const text = output?.value;
      if (type !== 'tool-result' || typeof toolCallId !== 'string' || typeof text !== 'string') continue;
      texts.set(toolCallId, [...(texts.get(toolCallId) ?? []), text]);
    }
  } catch {
    // A getter of a message has thrown.
    return new Map();
  }
  return texts;
}

/** Returns the ids of the last calls that have results in the messages; `null` if there are none. */
export function latestCalls(messages: unknown): string[] | null {
  try {
    const results = partsOf(messages).map(({ content }) =>
      partsOf(content).filter(({ type }) => type === 'tool-result'),
    );
    const latest = results.findLast((parts) => parts.length > 0);
    return latest?.map(({ toolCallId }) => String(toolCallId)) ?? null;
  } catch {
    // A getter of a message has thrown.
    return null;
  }
}

function partsOf(value: unknown): Part[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
}

/** Number of characters of a command in the line that names the command of a numbered output. */
const COMMAND_LENGTH = 60;
/** The line in place of lines that an earlier result shows. */
const REFERENCE = /^\[\d+ lines as in #(\d+) L\d+-\d+\]$/gm;

/** An earlier result, with its command. */
export interface Source extends Earlier {
  command: string;
  /** Whether the text of the output shows its number. */
  isNumbered: boolean;
}

type WithView = Pick<BashResult, 'stdout' | 'stderr' | 'view'>;

/** Returns both streams as a recall counts their lines. */
export function wholeText({ stdout, stderr }: Pick<WithView, 'stdout' | 'stderr'>): string {
  if (stderr === '') return stdout;
  return `${stdout}${stdout === '' || stdout.endsWith('\n') ? '' : '\n'}${stderr}`;
}

/** Returns the first and the last line of each part that a view leaves out. A fold leaves out nothing. */
export function hiddenLines({ stdout, view }: WithView): [from: number, to: number][] {
  const before = linesOf(stdout).length;
  return (view?.elided ?? []).map(({ stream, fromLine, toLine }) => {
    const start = stream === 'stderr' ? before : 0;
    return [start + fromLine, start + toLine];
  });
}

/** Returns the earlier results that a view refers to. */
export function referredIn({ text, elided }: View, sources: readonly Source[]): Source[] {
  if (!elided.some(({ why }) => why === 'seen')) return [];
  const ids = new Set([...text.matchAll(REFERENCE)].map(([, id]) => Number(id)));
  return sources.filter(({ id }) => ids.has(id));
}

/** The place of an earlier result. */
export interface Found {
  source: Source;
  /** Its file, if the model can read it; `null`: the model recalls it, or reads it above. */
  path: string | null;
}

/** Returns the view with a line for each result that it refers to, and that does not show its number itself. */
export function withSources(view: View, found: readonly Found[]): View {
  const unnumbered = found.filter(({ source }) => !source.isNumbered);
  if (unnumbered.length === 0) return view;
  const lines = unnumbered.map(({ source: { id, command }, path }) => {
    return `[#${id}: the output of «${shortened(command)}» above${path === null ? '' : `, whole in ${path}`}]`;
  });
  const text = `${view.text}${view.text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}`;
  return { ...view, text, tokens: { ...view.tokens, after: estimateTokens(text) } };
}

function shortened(command: string): string {
  const line = visible(command).replace(/\s+/g, ' ').trim();
  return line.length <= COMMAND_LENGTH ? line : `${line.slice(0, COMMAND_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Results that are remembered, and the characters of their streams, at most. The oldest are dropped first. */
const MOST_RESULTS = 256;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Characters of earlier results that a command is compared with, at most. The latest count. */
const MOST_COMPARED = 256 * 1024;
/** A shorter result has no lines that are worth a reference. */
const LEAST_CHARACTERS = 150;

/** A result that a model has read. */
interface Remembered {
  command: string;
  output: Extract<BashToolOutput, { stdout: string; notes: string[] }>;
  /** Returns the text that the model has read. */
  read: () => string;
  /** Made when the result is first compared with. */
  source: Source | null;
}

/** The last command, if its view leaves out lines. */
interface Last {
  key: string;
  id: number;
  toolCallId: string;
}

/** The results that the tools of one store have given. */
export class Memory {
  readonly #outputs: OutputStore;
  readonly #results = new Map<string, Remembered>();
  #characters = 0;
  #last: Last | null = null;

  constructor(outputs: OutputStore) {
    this.#outputs = outputs;
  }

  /**
   * Notes that a call begins. Returns the number of the last output if the call repeats its command at once. After a
   * call of another tool, such as an edit, the output may be different.
   */
  begin(key: string | null, messages: unknown): number | null {
    const last = this.#last;
    this.#last = null;
    if (last === null || last.key !== key) return null;
    const latest = latestCalls(messages);
    return latest === null || latest.includes(last.toolCallId) ? last.id : null;
  }

  /** Notes the view of a command. */
  end(key: string, view: View | null, toolCallId: string): void {
    this.#last = view === null || view.elided.length === 0 ? null : { key, id: view.id, toolCallId };
  }

  /** Remembers a result that a model reads. `read` returns its text. */
  remember(toolCallId: string, command: string, output: BashToolOutput, read: () => string): void {
    this.#forget(toolCallId);
    if (!('stdout' in output) || !('notes' in output) || output.status === 'backgrounded') return;
    const { stdout, stderr, truncation } = output;
    const characters = stdout.length + stderr.length;
    // A truncated stream has other line numbers than the result.
    const isWhole = truncation?.stdout == null && truncation?.stderr == null;
    if (characters < LEAST_CHARACTERS || characters > MOST_COMPARED || !isWhole) return;
    this.#results.set(toolCallId, { command, output, read, source: null });
    this.#characters += characters;
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= MOST_RESULTS && this.#characters <= MOST_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  /** Returns the results that are still in the messages with the same text, the latest last. */
  earlier(messages: unknown): Source[] {
    const sources: Source[] = [];
    let characters = 0;
    for (const [toolCallId, texts] of [...textsIn(messages)].reverse()) {
      const result = this.#results.get(toolCallId);
      if (result === undefined || !texts.includes(result.read())) continue;
      const source = this.#sourceOf(result);
      if (source === null) continue;
      characters += source.text.length;
      if (characters > MOST_COMPARED) break;
      sources.push(source);
    }
    return sources.reverse();
  }

  #sourceOf(result: Remembered): Source | null {
    const { command, output } = result;
    const own = output.view?.id ?? 0;
    // The model would recall it in vain.
    if (own > 0 && !keeperOf(this.#outputs).knows(own)) return null;
    result.source ??= {
      id: own > 0 ? own : keeperOf(this.#outputs).number(),
      command,
      isNumbered: own > 0,
      text: wholeText(output),
      hidden: hiddenLines(output),
    };
    return result.source;
  }

  #forget(toolCallId: string): void {
    const result = this.#results.get(toolCallId);
    if (result === undefined) return;
    this.#results.delete(toolCallId);
    this.#characters -= result.output.stdout.length + result.output.stderr.length;
  }
}

const memories = new WeakMap<OutputStore, Memory>();

/** Returns the memory of a store. */
export function memoryOf(outputs: OutputStore): Memory {
  const known = memories.get(outputs);
  if (known) return known;
  const memory = new Memory(outputs);
  memories.set(outputs, memory);
  return memory;
}

/** Remembers a result that a model reads, if its conversation is known. `read` returns the text. */
export function rememberResult(
  { reduce, [VIEWS]: place }: BashToolOptions & Viewed,
  { command }: BashToolInput,
  { toolCallId, messages }: BashToolExecutionOptions,
  output: BashToolOutput,
  read: () => string,
): void {
  if (command == null || place === undefined || levelOf(reduce) === 'off' || !Array.isArray(messages)) return;
  memoryOf(place.outputs).remember(toolCallId, command, output, read);
}

/** Stands for a command whose output a model has asked for by lines: contents, as of a file. */
const CONTENTS = 'cat FILE';

/** The part of its tokens that a view with references takes at most. */
const LEAST_GAIN = 0.9;

/** An output that something other than `bash` has made. */
type Output = Parameters<Keeper['view']>[0];

/** The views of one call of a tool. */
export class Viewing {
  readonly #options: BashToolOptions;
  readonly #place: Place;
  readonly #memory: Memory;
  readonly #reduce: Reduce;
  /** Names the command and its directory. */
  readonly #key: string;
  /** Earlier results that the model still reads. */
  readonly #sources: readonly Source[];
  readonly #toolCallId: string;
  #command = '';

  constructor(
    options: BashToolOptions & Viewed,
    input: BashToolInput,
    { toolCallId, messages }: BashToolExecutionOptions,
  ) {
    const { reduce = 'off', [VIEWS]: place } = options;
    if (place === undefined) throw new Error('the options are not those of a call');
    this.#options = options;
    this.#place = place;
    this.#memory = memoryOf(place.outputs);
    this.#key = JSON.stringify([input.command, directoryOf(options, input.cwd)]);
    this.#toolCallId = toolCallId;
    const repeated = this.#memory.begin(input.command == null ? null : this.#key, messages);
    if (repeated !== null) this.#keeper.again(repeated);
    // A model repeats a command to read the lines that were left out.
    this.#reduce = repeated === null ? reduce : withoutGaps(reduce);
    const refers = repeated === null && input.command != null && levelOf(reduce) !== 'off';
    this.#sources = refers ? this.#memory.earlier(messages) : [];
  }

  /** Returns the options with which a command is run. Rejects with `ERR_BASH_INVALID_ARG` for a wrong `reduce`. */
  async optionsFor(plan: CallPlan): Promise<BashOptions & Kept> {
    this.#command = isByLines(plan) ? CONTENTS : plan.command;
    const { outputs, recalls, taps } = this.#place;
    const { isProducer } = plan;
    const kept: BashOptions & Kept = {
      // A hook may remove secrets of what a filter has left, and sees nothing of what a tap keeps.
      taps: this.#options.taps ?? (this.#options.onAfterRun === undefined ? taps : 'off'),
      [KEEPING]: { store: outputs, recall: recalls, earlier: this.#sources, isProducer },
    };
    if (this.#isNative(plan)) return { ...kept, reduce: this.#reduce };
    await this.#check();
    if (!this.#isHere()) return {};
    // A session may have a level of its own.
    return { ...kept, reduce: 'off' };
  }

  /** Resolves with the result and its view. */
  async finish(result: BashResult, plan: CallPlan): Promise<BashToolResult> {
    const hasView = this.#isNative(plan) || executorOf(this.#options).kind === 'terminal' || result.view != null;
    const [made, notes] = hasView ? [result.view ?? null, []] : await this.#reduced(result);
    const view = made && (await this.#withSources(made, result));
    this.#memory.end(this.#key, view, this.#toolCallId);
    const level = levelOf(this.#options.reduce);
    return {
      ...result,
      view,
      // Without this, only the tool's own options would say how the result is read.
      ...(isBare(level) !== isBare(this.#place.level) && { reduce: level }),
      notes: [...result.notes, ...notes],
    };
  }

  /** Resolves with a result that a hook returned. If the hook changed the text, the view is made of the new text. */
  async replaced(before: BashToolOutput, after: BashToolOutput): Promise<BashToolOutput> {
    if (!isResult(before) || !isResult(after)) return after;
    const isSame = after.stdout === before.stdout && after.stderr === before.stderr;
    return this.#viewed(before, isSame ? after : this.#withoutTap(before, after), isSame);
  }

  async #viewed(before: BashResult, after: BashResult, isSame: boolean): Promise<BashResult> {
    if (before.view == null || after.view == null) return after;
    if (isSame || JSON.stringify(after.view) !== JSON.stringify(before.view)) return after;
    // The hook may have removed a secret, which the kept output still has.
    this.#keeper.drop(before.view);
    const [made, notes] = await this.#reduced(after);
    const view = made && (await this.#withSources(made, after));
    this.#memory.end(this.#key, view, this.#toolCallId);
    return { ...after, view, notes: [...after.notes, ...notes] };
  }

  /** Deletes what a tap kept, which still has what a hook removed. Returns the hook's result without it. */
  #withoutTap({ evidence }: BashResult, after: BashResult): BashResult {
    const tap = evidence?.tap;
    if (tap == null || tap.path === null) return after;
    this.#keeper.drop(tap);
    return after.evidence ? { ...after, evidence: { ...after.evidence, tap: null } } : after;
  }

  /** Resolves with a check and its view. `ask` is called if `reduce` is valid, since it consumes the output. */
  async check<T extends object>(ask: () => Promise<BashToolCheck | T>): Promise<BashToolCheck | T> {
    await this.#check();
    const check = await ask();
    if (!('task' in check)) return check;
    const { command, state, exitCode } = check.task;
    const output = { stdout: check.output, stderr: '', command, ...(state !== 'running' && { exitCode }) };
    if (levelOf(this.#reduce) === 'off') return check;
    const [view] = await this.#made(output);
    return { ...check, view };
  }

  /** Returns whether the model may recall lines. */
  get recalls(): boolean {
    return this.#place.recalls;
  }

  /** Answers a model that asks for lines of an output. */
  async recall(request: string): Promise<BashToolRecalled | BashToolError> {
    const answer = await this.#keeper.recall(request);
    return typeof answer === 'string' ? { status: 'recalled', exitCode: 0, text: answer } : answer;
  }

  get #keeper(): Keeper {
    return keeperOf(this.#place.outputs);
  }

  /**
   * Returns whether `bash` makes the view while the command runs. Output that is cut by lines is reduced afterwards.
   */
  #isNative(plan: CallPlan): boolean {
    return this.#isHere() && plan.limits.length === 0;
  }

  /** Returns whether `bash` runs the commands here, and not in a terminal. */
  #isHere(): boolean {
    return runsNatively(this.#options);
  }

  /** Names a fault in `reduce` before anything runs. */
  async #check(): Promise<void> {
    if (this.#reduce === 'off' || (typeof this.#reduce === 'string' && isBare(this.#reduce))) return;
    innerOf(bash).check('', { reduce: this.#reduce });
    await this.#view({ stdout: '', stderr: '' });
  }

  #reduced({ stdout, stderr, exitCode, status }: BashResult): Promise<[View | null, string[]]> {
    if (status === 'backgrounded') return Promise.resolve([null, []]);
    return this.#made({ stdout, stderr, exitCode, command: this.#command });
  }

  /** Resolves with the view of an output, or with a note. The command has run, so the model must see its output. */
  async #made(output: Output): Promise<[View | null, string[]]> {
    try {
      return [await this.#view(output), []];
    } catch (error) {
      return [null, [`the output was not reduced: ${messageOf(error)}`]];
    }
  }

  #view(output: Output, reduce = this.#reduce, sources = this.#sources): Promise<View | null> {
    return this.#keeper.view(output, reduce, { recall: this.#place.recalls, earlier: sources });
  }

  /** Keeps the results that a view refers to, and names their commands. Without a gain, the view refers to none. */
  async #withSources(view: View, result: BashResult): Promise<View | null> {
    const found: Found[] = [];
    const canRead = !this.#place.recalls && !result.confinement && !isSandboxed(this.#options);
    for (const source of referredIn(view, this.#sources)) {
      const path = await this.#keeper.hold(source.id, source.text);
      if (path === null) return this.#withoutSources(result);
      found.push({ source, path: canRead ? path : null });
    }
    const named = withSources(view, found);
    const gains = named === view || named.tokens.after <= named.tokens.before * LEAST_GAIN;
    return gains ? named : this.#withoutSources(result);
  }

  #withoutSources({ stdout, stderr, exitCode, truncation }: BashResult): Promise<View | null> {
    // A truncated stream has other line numbers than the result.
    const isWhole = truncation?.stdout == null && truncation?.stderr == null;
    const reduce = isWhole ? this.#reduce : withoutGaps(this.#reduce);
    return this.#view({ stdout, stderr, exitCode, command: this.#command }, reduce, []);
  }
}

/** Returns the directory in which a command starts. */
function directoryOf(options: BashToolOptions, asked: string | null | undefined): string | undefined {
  if (isSandboxed(options)) return sandboxDirectory(options.cwd, asked);
  return callFolder(toolFolder(options), asked);
}

/** Returns whether a model asked for the output by lines. A limit of standard output alone was a pipe. */
function isByLines({ limits }: CallPlan): boolean {
  return limits.some(({ streams }) => streams === 'both');
}

function isResult(output: BashToolOutput): output is BashResult {
  return 'stdout' in output && 'notes' in output;
}
