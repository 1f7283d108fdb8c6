/** Spans and measurements of runs, for OpenTelemetry. Its API is loaded by `instrument` alone. */

export { instrument } from './instrument.ts';
export type { AttributeValue, HistogramLike, InstrumentOptions, MeterLike, SpanLike, TracerLike } from './types.ts';
