import { createRequire } from 'node:module';
import { BashError } from 'agent-bash';
import { version } from '../../package.json';
import type { HistogramLike, InstrumentOptions, MeterLike, SpanLike, TracerLike } from './types.ts';

/** A context of OpenTelemetry, which is only passed on. */
type Context = never;

/** The part of the package `@opentelemetry/api` that is used. */
interface Api {
  context: { active(): Context };
  trace: { getTracer(name: string, version: string): TracerLike; setSpan(context: Context, span: SpanLike): Context };
  metrics: { getMeterProvider(): MeterProvider };
}

interface MeterProvider {
  getMeter(name: string, version: string): MeterLike;
}

/** Where spans and measurements go. */
export interface Telemetry {
  /** Returns the tracer; `undefined` if there are no spans. */
  tracer(): TracerLike | undefined;
  /** Returns the histogram; `undefined` if there is no metric. */
  histogram(): HistogramLike | undefined;
  /** Returns the active context, with this span in it; `undefined` if the package is not installed. */
  context(span: SpanLike | undefined): Context | undefined;
}

/** The name of the instrumentation, of spans and metric alike. */
const SCOPE = 'agent-bash';

const HISTOGRAM = 'gen_ai.execute_tool.duration';
const DESCRIPTION = 'The duration of a single tool execution.';
/** Commands take from milliseconds to minutes. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];

/**
 * Returns where spans and measurements go. Without a tracer and a meter those are the global ones, asked for at each
 * call, because an SDK may be set up later. Throws `ERR_BASH_UNSUPPORTED` if these need the package and it is missing.
 */
export function telemetryOf({ tracer, meter }: InstrumentOptions): Telemetry {
  const own = tracer !== undefined || meter !== undefined;
  const api = loadApi(own);
  const given = meter && { getMeter: () => meter };
  let known: { provider: MeterProvider; histogram: HistogramLike } | undefined;
  return {
    tracer: () => (own ? tracer : api?.trace.getTracer(SCOPE, version)),
    histogram: () => {
      const provider = own ? given : api?.metrics.getMeterProvider();
      if (provider && known?.provider !== provider) known = { provider, histogram: created(provider) };
      return known?.histogram;
    },
    context: (span) => {
      const active = api?.context.active();
      return api && active && span ? api.trace.setSpan(active, span) : active;
    },
  };
}

function created(provider: MeterProvider): HistogramLike {
  const advice = { explicitBucketBoundaries: SECONDS };
  return provider.getMeter(SCOPE, version).createHistogram(HISTOGRAM, { description: DESCRIPTION, unit: 's', advice });
}

/**
 * Loads the peer from the place of this file, or else from that of the program. The working directory is not searched,
 * because agents write there. Returns `undefined` without it if it may be missing.
 */
function loadApi(mayMiss: boolean): Api | undefined {
  let cause: unknown;
  for (const place of [() => import.meta.url, () => process.argv[1]]) {
    try {
      return createRequire(place() as string)('@opentelemetry/api') as Api;
    } catch (error) {
      cause ??= error;
    }
  }
  if (mayMiss) return undefined;
  const remedy = 'install it (npm install @opentelemetry/api), or give a tracer or a meter';
  const missing = new BashError('ERR_BASH_UNSUPPORTED', `@opentelemetry/api could not be loaded: ${remedy}`);
  missing.cause = cause;
  throw missing;
}
