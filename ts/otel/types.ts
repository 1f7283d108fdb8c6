// The parts of OpenTelemetry's API that are used. They are declared here, so that these types need no other package.

/** A value of an attribute. */
export type AttributeValue = string | number | string[];

/** The part of a `Span` that is used. */
export interface SpanLike {
  spanContext(): {
    traceId: string;
    spanId: string;
    traceFlags: number;
    traceState?: { serialize(): string } | undefined;
  };
  setAttributes(attributes: Record<string, AttributeValue>): unknown;
  setStatus(status: { code: number }): unknown;
  isRecording(): boolean;
  end(): void;
}

/** The part of a `Tracer` that is used. */
export interface TracerLike {
  startSpan(name: string, options: { kind: number; attributes: Record<string, AttributeValue> }): SpanLike;
}

/** The part of a `Histogram` that is used. `context` is one of OpenTelemetry's. */
export interface HistogramLike {
  record(value: number, attributes: Record<string, AttributeValue>, context?: never): void;
}

/** The part of a `Meter` that is used. */
export interface MeterLike {
  createHistogram(
    name: string,
    options: { description: string; unit: string; advice: { explicitBucketBoundaries: number[] } },
  ): HistogramLike;
}

/** Options of `instrument`. Every option may be left out, and `undefined` counts as left out. */
export interface InstrumentOptions {
  /**
   * Starts the spans.
   *
   * @default the global one, without a `meter`; else none: there are no spans
   * @example instrument({ tracer: provider.getTracer('my-agent') });
   */
  tracer?: TracerLike | undefined;
  /**
   * Records the durations.
   *
   * @default the global one, without a `tracer`; else none: there is no metric
   * @example instrument({ meter: provider.getMeter('my-agent') });
   */
  meter?: MeterLike | undefined;
  /**
   * Whether spans have the text of the command, without the secrets that are found in it.
   *
   * @default false
   * @example instrument({ command: true });
   */
  command?: boolean | undefined;
  /**
   * Whether a command has its span as `TRACEPARENT` in its environment, so that programs that it starts continue the
   * trace. A call whose `env` names `TRACEPARENT` or `TRACESTATE` keeps its own.
   *
   * @default false
   * @example instrument({ traceparent: true });
   */
  traceparent?: boolean | undefined;
}
