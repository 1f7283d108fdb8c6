import type { Advice } from './advice.ts';
import { formatOutput } from './format.ts';
import { registryOf } from './manage.ts';
import { isNotified } from './told.ts';
import type { BashToolModelOutput, BashToolOptions, BashToolOutput } from './types.ts';

/** How the output of a call is read. */
interface Reading {
  errorOnFailure: boolean;
  /** Whether the model has to look for the end of a task itself. */
  poll: boolean;
}

const NO_NEED_TO_POLL = 'you are told when it ends: there is no need to poll';

/** What a model reads of a tool's outputs: `perCall` may set how for one call, and `toModelOutput` sees no more of a call than its output. */
export class Readings {
  readonly #errorOnFailure: boolean;
  readonly #advice: Advice;
  readonly #readings = new WeakMap<BashToolOutput, Reading>();

  constructor({ errorOnFailure = false }: BashToolOptions, advice: Advice) {
    this.#errorOnFailure = errorOnFailure;
    this.#advice = advice;
  }

  /** Keeps how an output is read: by the options that held for its call. */
  keep(output: BashToolOutput, options: BashToolOptions): void {
    const { errorOnFailure = false } = options;
    this.#readings.set(output, { errorOnFailure, poll: !endIsTold(output, options) });
  }

  /** The text of an output. */
  read(output: BashToolOutput): BashToolModelOutput {
    const { errorOnFailure = this.#errorOnFailure, poll = true } = this.#readings.get(output) ?? {};
    const read = formatOutput(output, errorOnFailure, this.#advice);
    return poll ? read : { ...read, value: `${read.value}\n\n[${NO_NEED_TO_POLL}]` };
  }
}

/** Whether the output is about a task whose end the model is told of by itself. */
function endIsTold(output: BashToolOutput, options: BashToolOptions): boolean {
  const task = 'task' in output ? output.task : 'background' in output ? output.background : null;
  return task?.state === 'running' && isNotified(() => registryOf(options));
}
