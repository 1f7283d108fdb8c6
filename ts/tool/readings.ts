import type { Advice } from './format/advice.ts';
import { formatOutput } from './format/format.ts';
import { sandboxOf } from './in-sandbox/sandbox.ts';
import { registryOf } from './manage.ts';
import { isAnnounced } from './task-knowledge.ts';
import type { BashToolModelOutput, BashToolOptions, BashToolOutput } from './types.ts';

/** How to format the output of one call. */
interface Reading {
  errorOnFailure: boolean;
  /** Whether the model must poll for the exit of a task. */
  poll: boolean;
  /** Whether the model may ask for access. */
  asks: boolean;
}

const NO_NEED_TO_POLL = 'you are told when it ends: there is no need to poll';

/**
 * Formats a tool's outputs for the model. `perCall` may change the format of one call, but `toModelOutput` only
 * receives the output, so the format is kept by output.
 */
export class Readings {
  readonly #errorOnFailure: boolean;
  readonly #advice: Advice;
  readonly #asks: boolean;
  readonly #readings = new WeakMap<BashToolOutput, Reading>();

  /** `asks`: whether the input of the tool has a place for `access`. */
  constructor({ errorOnFailure = false }: BashToolOptions, advice: Advice, asks = false) {
    this.#errorOnFailure = errorOnFailure;
    this.#asks = asks;
    this.#advice = advice;
  }

  /** Remembers the format of an output, from the options of its call. */
  keep(output: BashToolOutput, options: BashToolOptions): void {
    const { errorOnFailure = false } = options;
    this.#readings.set(output, {
      errorOnFailure,
      poll: !endIsTold(output, options),
      asks: this.#asks && options.onAccess !== undefined && sandboxOf(options) === undefined,
    });
  }

  /** Returns the text of an output. */
  read(output: BashToolOutput): BashToolModelOutput {
    const reading = this.#readings.get(output);
    const { errorOnFailure = this.#errorOnFailure, poll = true, asks = this.#asks } = reading ?? {};
    const read = formatOutput(output, errorOnFailure, this.#advice, asks);
    return poll ? read : { ...read, value: `${read.value}\n\n[${NO_NEED_TO_POLL}]` };
  }
}

/** Returns whether the output is about a task whose exit is announced to the model. */
function endIsTold(output: BashToolOutput, options: BashToolOptions): boolean {
  const task = 'task' in output ? output.task : 'background' in output ? output.background : null;
  return task?.state === 'running' && isAnnounced(() => registryOf(options));
}
