import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BashError, bash } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { type OptionTableOf, PLAIN, unknownOption } from '../core/option-names.ts';
import { Runs } from './runs.ts';
import { telemetryOf } from './telemetry.ts';
import type { InstrumentOptions } from './types.ts';

const OPTIONS: OptionTableOf<InstrumentOptions> = { tracer: PLAIN, meter: PLAIN, command: PLAIN, traceparent: PLAIN };

/**
 * Traces and measures the runs of this thread with OpenTelemetry: one span `execute_tool bash` for each run, of
 * `bash()`, sessions, terminals, registries and tools, and the histogram `gen_ai.execute_tool.duration`. Returns a
 * function that undoes this; it may be called again. A second call replaces the first.
 *
 * A span begins with the call, and its parent is the span that is active then. It ends with the run, also if that goes
 * on as a task. Spans of runs that go on when the instrumentation is undone are ended, without an exit code. A tracer
 * or a meter that throws disturbs no run: the first failure is a warning of the process (`process.on('warning')`, code
 * `AGENT_BASH_OTEL`).
 *
 * Throws a `BashError`: `ERR_BASH_INVALID_ARG` for a wrong option, and `ERR_BASH_UNSUPPORTED` if `@opentelemetry/api`
 * is not installed, unless a tracer or a meter is given.
 *
 * @example const undo = instrument({ tracer: provider.getTracer('my-agent') });
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  check(options);
  const { redact, instrumented } = innerOf(bash);
  const { command = false, traceparent = false } = options;
  const runs = new Runs(telemetryOf(options), { redact: command ? redact : null, traceparent });
  const listeners = Object.entries(runs.listeners);
  const undo = () => {
    if (instrumented.undo !== undo) return;
    instrumented.undo = null;
    for (const [name, listener] of listeners) unsubscribe(name, listener);
    runs.leave();
  };
  instrumented.undo?.();
  instrumented.undo = undo;
  for (const [name, listener] of listeners) subscribe(name, listener);
  return undo;
}

function check(options: InstrumentOptions): void {
  const { invalid } = innerOf(bash);
  if (typeof options !== 'object' || options === null) throw invalid('options', options, 'an object');
  const unknown = unknownOption('instrument', options, OPTIONS);
  if (unknown !== null) throw new BashError('ERR_BASH_INVALID_ARG', unknown);
  const { tracer, meter } = options;
  if (tracer !== undefined && typeof tracer?.startSpan !== 'function') throw invalid('tracer', tracer, 'a Tracer');
  if (meter !== undefined && typeof meter?.createHistogram !== 'function') throw invalid('meter', meter, 'a Meter');
  for (const name of ['command', 'traceparent'] as const) {
    const flag = options[name];
    if (flag !== undefined && typeof flag !== 'boolean') throw invalid(name, flag, 'a boolean');
  }
}
