import type { ObservedCall, ObservedExit, ObservedReturn } from 'agent-bash';
import { messageOf } from '../core/listener.ts';
import { TracedRun } from './run.ts';
import type { Telemetry } from './telemetry.ts';

/** The parts of an instrumentation beside spans and measurements. */
export interface Extras {
  /** Removes the secrets from a command; `null` if spans do not have the text of commands. */
  redact: ((text: string) => string) | null;
  /** Whether commands continue the trace. */
  traceparent: boolean;
}

/** The runs of this thread that have not ended. A tracer or a meter that throws disturbs none of them. */
export class Runs {
  /** By the id of the call, and by that of the task once the run is one. */
  readonly #runs = new Map<string, TracedRun>();
  /** Ends of tasks whose calls may not have settled yet. Empty if no call is starting a task. */
  readonly #early = new Map<string, ObservedExit>();
  /** How many calls are starting a task. */
  #starting = 0;
  #warned = false;
  readonly #telemetry: Telemetry;
  readonly #extras: Extras;

  constructor(telemetry: Telemetry, extras: Extras) {
    this.#telemetry = telemetry;
    this.#extras = extras;
  }

  /** The listeners, by their channels. */
  readonly listeners = {
    'agent-bash:call': (message: unknown) => this.#quietly(() => this.#called(message as ObservedCall)),
    'agent-bash:exit': (message: unknown) => this.#quietly(() => this.#exited(message as ObservedExit)),
    'agent-bash:return': (message: unknown) => this.#quietly(() => this.#returned(message as ObservedReturn)),
  };

  /** Ends the spans of all runs. The runs go on. */
  leave(): void {
    for (const run of this.#runs.values()) this.#quietly(() => run.left());
    this.#runs.clear();
    this.#early.clear();
  }

  #called(call: ObservedCall): void {
    const run = new TracedRun(call, this.#telemetry);
    this.#runs.set(call.id, run);
    if (call.kind === 'task') this.#starting += 1;
    const { redact, traceparent } = this.#extras;
    if (redact) this.#quietly(() => run.command(call.command, redact));
    if (traceparent) Object.assign(call.env, run.variables());
  }

  #exited(exit: ObservedExit): void {
    const run = this.#take(exit.id);
    if (run === undefined) {
      if (exit.kind === 'task' && this.#starting > 0) this.#early.set(exit.id, exit);
    } else if (exit.taskId === null) run.exited(exit);
    else this.#moved(run, exit.taskId, exit);
  }

  #returned(result: ObservedReturn): void {
    const run = this.#take(result.id);
    if (run === undefined) return;
    const early = result.taskId !== null && this.#early.get(result.taskId);
    if (result.kind === 'task' && --this.#starting === 0) this.#early.clear();
    if (early) run.exited(early);
    else if (result.taskId !== null) this.#moved(run, result.taskId, result);
    else run.failed(result);
  }

  #moved(run: TracedRun, taskId: string, facts: Parameters<TracedRun['moved']>[0]): void {
    this.#runs.set(taskId, run);
    run.moved(facts);
  }

  #take(id: string): TracedRun | undefined {
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    return run;
  }

  /** Calls a function. Its first failure is a warning of the process. */
  #quietly(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (this.#warned) return;
      this.#warned = true;
      const warning = `OpenTelemetry failed, and commands go on without it: ${messageOf(error)}`;
      process.emitWarning(warning, { code: 'AGENT_BASH_OTEL' });
    }
  }
}
