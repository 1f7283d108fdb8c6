import type { Advice } from './format/advice.ts';
import { formatOutput } from './format/format.ts';
import { registryOf } from './manage.ts';
import { isAnnounced } from './task-knowledge.ts';
import type { BashToolModelOutput, BashToolOptions, BashToolOutput } from './types.ts';

/** How to format the output of one call. */
interface Reading {
  errorOnFailure: boolean;
  /** Whether the model must poll for the exit of a task. */
  poll: boolean;
}

const NO_NEED_TO_POLL = 'you are told when it ends: there is no need to poll';

/**
 * Formats a tool's outputs for the model. `perCall` may change the format of one call, but `toModelOutput` only
 * receives the output, so the format is kept by output.
 */
export class Readings {
  readonly #errorOnFailure: boolean;
  readonly #advice: Advice;
  readonly #readings = new WeakMap<BashToolOutput, Reading>();

  constructor({ errorOnFailure = false }: BashToolOptions, advice: Advice) {
    this.#errorOnFailure = errorOnFailure;
    this.#advice = advice;
  }

  /** Remembers the format of an output, from the options of its call. */
  keep(output: BashToolOutput, options: BashToolOptions): void {
    const { errorOnFailure = false } = options;
    this.#readings.set(output, { errorOnFailure, poll: !endIsTold(output, options) });
  }

  /** Returns the text of an output. */
  read(output: BashToolOutput): BashToolModelOutput {
    const { errorOnFailure = this.#errorOnFailure, poll = true } = this.#readings.get(output) ?? {};
    const read = formatOutput(output, errorOnFailure, this.#advice);
    return poll ? read : { ...read, value: `${read.value}\n\n[${NO_NEED_TO_POLL}]` };
  }
}

/** Returns whether the output is about a task whose exit is announced to the model. */
function endIsTold(output: BashToolOutput, options: BashToolOptions): boolean {
  const task = 'task' in output ? output.task : 'background' in output ? output.background : null;
  return task?.state === 'running' && isAnnounced(() => registryOf(options));
}
