import { context, type DiagLogger, metrics, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type InstrumentOptions, instrument } from 'agent-bash/otel';
import { onTestFinished } from 'vitest';
import { until } from '../support/index.ts';

export type { DiagLogger };

/** Reads the metrics when it is asked to. */
class Reader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

export interface Measured {
  name: string;
  unit: string;
  points: DataPoint<Histogram>[];
}

/** An SDK with everything in memory, and a tracer and a meter of it. Contexts follow promises, as in Node's SDK. */
export function sdk({ sampler }: { sampler?: Sampler } = {}) {
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracers = new BasicTracerProvider({ spanProcessors, ...(sampler && { sampler }) });
  const reader = new Reader();
  const meters = new MeterProvider({ readers: [reader] });
  const tracer = tracers.getTracer('test');
  onTestFinished(() => {
    context.disable();
    trace.disable();
    metrics.disable();
  });
  const spans = () => exporter.getFinishedSpans().filter(({ name }) => name === 'execute_tool bash');
  return {
    tracers,
    meters,
    tracer,
    meter: meters.getMeter('test'),
    /** The spans of runs that have ended, in that order. */
    spans,
    /** Waits for this many spans of runs. */
    ended: (count: number) => until(() => spans().length >= count && spans(), `${count} spans have ended`),
    /** Calls a function in a span, and returns the span and the value. */
    inSpan: async <T>(name: string, act: () => Promise<T>): Promise<[Span, T]> => {
      const span = tracer.startSpan(name);
      const value = await context.with(trace.setSpan(context.active(), span), act);
      span.end();
      return [span, value];
    },
    measured: async (): Promise<Measured[]> => {
      const { resourceMetrics } = await reader.collect();
      return resourceMetrics.scopeMetrics
        .flatMap(({ metrics }) => metrics)
        .map(({ descriptor: { name, unit }, dataPoints }) => ({
          name,
          unit,
          points: dataPoints as DataPoint<Histogram>[],
        }));
    },
  };
}

/** Instruments until the test ends. */
export function instrumented(options: InstrumentOptions): () => void {
  const undo = instrument(options);
  onTestFinished(undo);
  return undo;
}

/** The ids of a span and of its parent. */
export const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId;

export const idOf = (span: { spanContext(): { spanId: string } } | undefined) => span?.spanContext().spanId;

/** The last output of a tool. */
export async function last<T>(outputs: AsyncIterable<T>): Promise<T> {
  let newest: T | undefined;
  for await (const output of outputs) newest = output;
  return newest as T;
}
