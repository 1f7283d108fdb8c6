import { describe, expect, test } from 'vitest';
import { hostResult } from '../support/index.ts';
import { loadedBy } from '../support/loaded.ts';

// The SDK, this package and the host may each come from another module system.
const LOADS = {
  'all from ES modules': `
    import { instrument } from 'agent-bash/otel';
    import * as api from '@opentelemetry/api';
    import * as sdk from '@opentelemetry/sdk-trace-base';
    import * as hooks from '@opentelemetry/context-async-hooks';`,
  'all from CommonJS': `
    import { createRequire } from 'node:module';
    const require = createRequire(process.cwd() + '/');
    const { instrument } = require('agent-bash/otel');
    const api = require('@opentelemetry/api');
    const sdk = require('@opentelemetry/sdk-trace-base');
    const hooks = require('@opentelemetry/context-async-hooks');`,
  'the entry from CommonJS, the SDK from ES modules': `
    import { createRequire } from 'node:module';
    import * as api from '@opentelemetry/api';
    import * as sdk from '@opentelemetry/sdk-trace-base';
    import * as hooks from '@opentelemetry/context-async-hooks';
    const { instrument } = createRequire(process.cwd() + '/')('agent-bash/otel');`,
};

describe.each(Object.entries(LOADS))('%s', (_, loads) => {
  test('a run is a span below the active one', async () => {
    const found = await hostResult<{ parents: string[]; caller: string; scope: string }>(`
      ${loads}
      const exporter = new sdk.InMemorySpanExporter();
      const spanProcessors = [new sdk.SimpleSpanProcessor(exporter)];
      instrument();
      api.trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors }));
      api.context.setGlobalContextManager(new hooks.AsyncLocalStorageContextManager().enable());
      const caller = api.trace.getTracer('host').startSpan('caller');
      await api.context.with(api.trace.setSpan(api.context.active(), caller), () => bash('true'));
      const spans = exporter.getFinishedSpans();
      console.log(JSON.stringify({
        parents: spans.map(({ parentSpanContext }) => parentSpanContext?.spanId),
        caller: caller.spanContext().spanId,
        scope: spans[0].instrumentationScope.name,
      }));
    `);
    expect(found).toEqual({ parents: [found.caller], caller: found.caller, scope: 'agent-bash' });
  });
});

test.each(['otel.mjs', 'otel.cjs'])('%s loads nothing but the main entry and Node', async (file) => {
  expect(await loadedBy(file)).toEqual([
    'agent-bash',
    'node:diagnostics_channel',
    'node:module',
    // The name of the file, which an ES module knows by itself.
    ...(file === 'otel.cjs' ? ['url'] : []),
  ]);
});

test('the loaded entry keeps no process alive', async () => {
  expect(
    await hostResult(`
    import { instrument } from 'agent-bash/otel';
    instrument();
    await bash('true');
    console.log(1);
  `),
  ).toBe(1);
});

test('each thread is instrumented by itself', async () => {
  const found = await hostResult<{ here: number; there: number }>(`
    import { Worker } from 'node:worker_threads';
    import { instrument } from 'agent-bash/otel';
    let here = 0;
    instrument({ tracer: { startSpan: () => { here++; } } });
    const code = "import('agent-bash').then(({ bash }) => bash('true')).then(() => process.exit())";
    await new Promise((resolve) => new Worker(code, { eval: true }).on('exit', resolve));
    const there = here;
    await bash('true');
    console.log(JSON.stringify({ here, there }));
  `);
  expect(found).toEqual({ here: 1, there: 0 });
});
