import { type BackgroundCheck, type BashOptions, type BashResult, bash, type View } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { messageOf } from '../../core/listener.ts';
import { KEEPING, type Keeper, type Kept, keeperOf, type Reduce } from '../../reduce/keeping.ts';
import { type CallPlan, callFolder, toolFolder } from '../call-plan.ts';
import { sandboxDirectory, sandboxOf } from '../in-sandbox/sandbox.ts';
import { sessionOf } from '../in-session.ts';
import { terminalOf } from '../in-terminal.ts';
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
import { isBare, levelOf, withoutGaps } from './level.ts';
import { type Memory, memoryOf } from './memory.ts';
import { type Place, VIEWS, type Viewed } from './outputs.ts';
import { type Found, referredIn, type Source, withSources } from './source.ts';

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
    if (this.#isNative(plan)) {
      const { outputs, recalls } = this.#place;
      return {
        reduce: this.#reduce,
        [KEEPING]: { store: outputs, recall: recalls, earlier: this.#sources },
      };
    }
    await this.#check();
    // A session may have a level of its own.
    return sessionOf(this.#options) === undefined ? {} : { reduce: 'off' };
  }

  /** Resolves with the result and its view. */
  async finish(result: BashResult, plan: CallPlan): Promise<BashToolResult> {
    const hasView = this.#isNative(plan) || terminalOf(this.#options) !== undefined || result.view != null;
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

  /** Resolves with a result that a hook returned. If its text is another one, its view is made of that. */
  async replaced(before: BashToolOutput, after: BashToolOutput): Promise<BashToolOutput> {
    if (!isResult(before) || !isResult(after) || before.view == null || after.view == null) return after;
    const isSame = after.stdout === before.stdout && after.stderr === before.stderr;
    if (isSame || JSON.stringify(after.view) !== JSON.stringify(before.view)) return after;
    // The hook may have removed a secret, which the kept output still has.
    this.#keeper.drop(before.view);
    const [made, notes] = await this.#reduced(after);
    const view = made && (await this.#withSources(made, after));
    this.#memory.end(this.#key, view, this.#toolCallId);
    return { ...after, view, notes: [...after.notes, ...notes] };
  }

  /** Resolves with a check and its view. `ask` is called if `reduce` is valid, since it consumes the output. */
  async check<T extends object>(ask: () => Promise<BackgroundCheck | T>): Promise<BashToolCheck | T> {
    await this.#check();
    const check = await ask();
    if (!('task' in check)) return check;
    const { command, state, exitCode } = check.task;
    const output = { stdout: check.output, stderr: '', command, ...(state !== 'running' && { exitCode }) };
    if (levelOf(this.#reduce) === 'off') return check;
    const [view] = await this.#made(output);
    return { ...check, view };
  }

  /** Whether the model may recall lines. */
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

  /** Whether `bash` makes the view, while the command runs. Output that is cut by lines is reduced afterwards. */
  #isNative(plan: CallPlan): boolean {
    const { run } = this.#options;
    const isBash = run === undefined || run === bash;
    const isHere = sandboxOf(this.#options) === undefined && terminalOf(this.#options) === undefined;
    return isBash && isHere && plan.limits.length === 0;
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

  /** Keeps the results that a view refers to, and says whose they are. Without a gain nothing is referred to. */
  async #withSources(view: View, result: BashResult): Promise<View | null> {
    const found: Found[] = [];
    const canRead = !this.#place.recalls && !result.confinement && sandboxOf(this.#options) === undefined;
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
    // Lines of a stream that was cut have other numbers than those of the result.
    const isWhole = truncation?.stdout == null && truncation?.stderr == null;
    const reduce = isWhole ? this.#reduce : withoutGaps(this.#reduce);
    return this.#view({ stdout, stderr, exitCode, command: this.#command }, reduce, []);
  }
}

/** Returns the directory in which a command starts. */
function directoryOf(options: BashToolOptions, asked: string | null | undefined): string | undefined {
  if (sandboxOf(options) !== undefined) return sandboxDirectory(options.cwd, asked);
  return callFolder(toolFolder(options.cwd), asked);
}

/** Whether a model asked for the output by lines. A limit of standard output alone was a pipe. */
function isByLines({ limits }: CallPlan): boolean {
  return limits.some(({ streams }) => streams === 'both');
}

function isResult(output: BashToolOutput): output is BashResult {
  return 'stdout' in output && 'notes' in output;
}
