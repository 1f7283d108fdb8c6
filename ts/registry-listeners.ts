import type { BackgroundTask, NativeEvent, NativeGrowth, NativeRegistry } from '../native.cjs';
import { watchRegistry } from './bridge';
import { failureOf } from './listener';
import { TaskObserver } from './observe/tasks';
import { invalid } from './options';

export type ExitListener = (task: BackgroundTask) => unknown;
export type OutputListener = (task: BackgroundTask, text: string) => unknown;

/** Who hears of the tasks of one registry. The core is asked for no more than somebody listens to. */
export class RegistryListeners {
  readonly #native: NativeRegistry;
  readonly #exit = new Set<ExitListener>();
  readonly #output = new Set<OutputListener>();
  /** For those who listen to the channels. */
  readonly observer = new TaskObserver();
  #observed = { exit: false, output: false };
  /** Those that have failed before: a listener that fails at each line must not fill the terminal. */
  readonly #warned = new WeakSet<ExitListener | OutputListener>();

  constructor(native: NativeRegistry) {
    this.#native = native;
  }

  add(event: 'exit' | 'output', listener: ExitListener | OutputListener): void {
    if (typeof listener !== 'function') throw invalid('listener', listener, 'a function');
    this.#of(event).add(listener);
    this.#watch();
  }

  remove(event: 'exit' | 'output', listener: ExitListener | OutputListener): void {
    if (this.#of(event).delete(listener)) this.#watch();
  }

  clear(): void {
    if (!this.#hears.exit && !this.#hears.output) return;
    this.#exit.clear();
    this.#output.clear();
    this.#observed = { exit: false, output: false };
    this.#watch();
  }

  /** Looks whether somebody listens to the channels: that is told to nobody. */
  observe(): void {
    const { exit, output } = this.observer.wants;
    if (exit === this.#observed.exit && output === this.#observed.output) return;
    this.#observed = { exit, output };
    this.#watch();
  }

  get #hears(): { exit: boolean; output: boolean } {
    return {
      exit: this.#exit.size > 0 || this.#observed.exit,
      output: this.#output.size > 0 || this.#observed.output,
    };
  }

  #of(event: 'exit' | 'output'): Set<ExitListener | OutputListener> {
    if (event === 'exit') return this.#exit as Set<ExitListener | OutputListener>;
    if (event === 'output') return this.#output;
    throw invalid('event', event, 'one of exit, output');
  }

  #watch(): void {
    const { exit, output } = this.#hears;
    watchRegistry(this.#native.id, exit || output ? (event) => this.#hear(event) : null);
    this.#native.watch(exit, output);
  }

  #hear({ exit, grown }: NativeEvent): void {
    if (exit) {
      if (this.#observed.exit) this.observer.exit(exit);
      for (const listener of [...this.#exit]) void this.#call(listener, () => listener(exit));
    } else if (grown) void this.#tell(grown);
  }

  // The core holds the next text of this task back until it is told that this one was taken.
  async #tell({ task, text }: NativeGrowth): Promise<void> {
    if (this.#observed.output) this.observer.output(task, text);
    await Promise.all([...this.#output].map((listener) => this.#call(listener, () => listener(task, text))));
    this.#native.took(task.id);
  }

  async #call(listener: ExitListener | OutputListener, call: () => unknown): Promise<void> {
    const failure = await failureOf(call);
    if (failure === undefined || this.#warned.has(listener)) return;
    this.#warned.add(listener);
    process.emitWarning(`a listener of a BackgroundRegistry failed: ${failure}`, { code: 'AGENT_BASH_LISTENER' });
  }
}
