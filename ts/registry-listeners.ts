import type { BackgroundTask, NativeEvent, NativeGrowth, NativeRegistry } from '../native.cjs';
import { watchRegistry } from './bridge';
import { failureOf } from './listener';
import { invalid } from './options';

export type ExitListener = (task: BackgroundTask) => unknown;
export type OutputListener = (task: BackgroundTask, text: string) => unknown;

/** Who hears of the tasks of one registry. The core is asked for no more than somebody listens to. */
export class RegistryListeners {
  readonly #native: NativeRegistry;
  readonly #exit = new Set<ExitListener>();
  readonly #output = new Set<OutputListener>();
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
    if (this.#exit.size + this.#output.size === 0) return;
    this.#exit.clear();
    this.#output.clear();
    this.#watch();
  }

  #of(event: 'exit' | 'output'): Set<ExitListener | OutputListener> {
    if (event === 'exit') return this.#exit as Set<ExitListener | OutputListener>;
    if (event === 'output') return this.#output;
    throw invalid('event', event, 'one of exit, output');
  }

  #watch(): void {
    const any = this.#exit.size + this.#output.size > 0;
    watchRegistry(this.#native.id, any ? (event) => this.#hear(event) : null);
    this.#native.watch(this.#exit.size > 0, this.#output.size > 0);
  }

  #hear({ exit, grown }: NativeEvent): void {
    if (exit) for (const listener of [...this.#exit]) void this.#call(listener, () => listener(exit));
    else if (grown) void this.#tell(grown);
  }

  // The core holds the next text of this task back until it is told that this one was taken.
  async #tell({ task, text }: NativeGrowth): Promise<void> {
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
