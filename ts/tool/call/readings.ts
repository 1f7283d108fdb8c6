import type { Level } from '../../reduce/keeping.ts';
import { isSandboxed } from '../executor.ts';
import { isBare, offersUndo } from '../options.ts';
import { sandboxDirectory } from '../sandbox/options.ts';
import { NO_FIELDS, type OptionalFields } from '../schema.ts';
import { callFolder, toolFolder } from '../setup.ts';
import type { BashToolModelOutput, BashToolOptions, BashToolOutput } from '../types.ts';
import { type Advice, formatOutput } from './format.ts';
import { isAnnounced, registryOf } from './manage.ts';

/** How to format the output of one call. */
interface CallReading {
  errorOnFailure: boolean;
  /** Whether the model must poll for the exit of a task. */
  poll: boolean;
  /** Whether the model may ask for access. */
  asks: boolean;
  /** Whether the model may undo runs. */
  undoes: boolean;
  /** Whether the model may recall lines. */
  recalls: boolean;
  /** The directory of the call. */
  cwd: string | undefined;
}

const NO_NEED_TO_POLL = 'you are told when it ends: there is no need to poll';

/**
 * Formats a tool's outputs for the model. `perCall` may change the format of one call, but `toModelOutput` only
 * receives the output, so the format is kept by output.
 */
export class Readings {
  readonly #options: BashToolOptions;
  readonly #advice: Advice;
  readonly #fields: OptionalFields;
  readonly #level: Level;
  readonly #readings = new WeakMap<BashToolOutput, CallReading>();

  /** `fields`: the fields that the tool's input has. `level`: the level of calls whose result names none. */
  constructor(options: BashToolOptions, advice: Advice, fields: OptionalFields = NO_FIELDS, level: Level = 'off') {
    const here = !isSandboxed(options);
    this.#options = here ? { ...options, cwd: toolFolder(options) } : options;
    this.#level = level;
    this.#fields = fields;
    this.#advice = advice;
  }

  /** Remembers the format of an output, from the options of its call and the directory that the model asked for. */
  keep(output: BashToolOutput, options: BashToolOptions, asked?: string | null): void {
    this.#readings.set(output, this.#readingOf(output, options, asked));
  }

  /**
   * Returns the text of an output. `input` is the input of its call. For a copy of an output, such as an output that
   * was stored as JSON, the options of the tool stand for the options of the call.
   */
  read(output: BashToolOutput, input?: unknown): BashToolModelOutput {
    const known = this.#readings.get(output) ?? this.#readingOf(output, this.#options, askedIn(input));
    const { errorOnFailure, poll, ...rest } = known;
    const level = ('reduce' in output && output.reduce) || this.#level;
    const read = formatOutput(output, errorOnFailure, { ...rest, advice: this.#advice, bare: isBare(level) });
    return poll ? read : { ...read, value: `${read.value}\n\n[${NO_NEED_TO_POLL}]` };
  }

  #readingOf(output: BashToolOutput, options: BashToolOptions, asked: string | null | undefined): CallReading {
    const { errorOnFailure = false } = options;
    const here = !isSandboxed(options);
    return {
      errorOnFailure,
      poll: !endIsTold(output, options),
      asks: this.#fields.asks && options.onAccess !== undefined && here,
      undoes: this.#fields.undoes && offersUndo(options) && here,
      recalls: this.#fields.recalls,
      cwd: here ? callFolder(toolFolder(options), asked) : sandboxDirectory(options.cwd, asked),
    };
  }
}

/** Returns the directory that a model asked for. */
function askedIn(input: unknown): string | null {
  const { cwd } = Object(input) as { cwd?: unknown };
  return typeof cwd === 'string' ? cwd : null;
}

/** Returns whether the output is about a task whose exit is announced to the model. */
function endIsTold(output: BashToolOutput, options: BashToolOptions): boolean {
  const task = 'task' in output ? output.task : 'background' in output ? output.background : null;
  return task?.state === 'running' && isAnnounced(() => registryOf(options));
}
