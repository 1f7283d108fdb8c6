import { expect, test } from 'vitest';
import { host } from '../../../support/index.ts';

test('10,000 runs leave no span and no memory behind', async () => {
  const running = host(
    `
    import { BackgroundRegistry, BashSession } from 'agent-bash';
    import { instrument } from 'agent-bash/otel';
    import { context, trace } from '@opentelemetry/api';
    import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
    import { MeterProvider } from '@opentelemetry/sdk-metrics';
    import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    let alive = 0;
    let ended = 0;
    const gone = new FinalizationRegistry(() => alive--);
    const processor = {
      onStart: (span) => { alive++; gone.register(span); },
      onEnd: () => { ended++; },
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('host');
    instrument({ tracer, meter: new MeterProvider().getMeter('host'), traceparent: true, command: true });
    const session = new BashSession();
    const registry = new BackgroundRegistry();
    // Most runs are plain. The others end in each of the other ways.
    const run = async (number) => {
      if (number % 100 === 1) return session.run('true');
      if (number % 100 === 2) return bash('git push --force').catch(() => {});
      if (number % 100 === 3) return bash('true', { signal: AbortSignal.abort() });
      if (number % 100 === 4) return registry.kill((await registry.start('sleep 300')).id);
      if (number % 100 === 5) return bash('true', { mode: 'background', registry }).catch(() => {});
      return bash(':');
    };
    const runs = async (count) => {
      let begun = 0;
      await Promise.all(Array.from({ length: 8 }, async () => {
        while (begun < count) await context.with(trace.setSpan(context.active(), tracer.startSpan('caller')), run, undefined, ++begun);
      }));
    };
    const collected = async () => {
      for (let i = 0; i < 5; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return process.memoryUsage().heapUsed;
    };
    await runs(2_000);
    const before = await collected();
    await runs(8_000);
    const after = await collected();
    console.log(JSON.stringify({ ended, alive, bytes: (after - before) / 8_000 }), 'done');
    await registry.close();
    await session.close();
  `,
    { execArgv: ['--expose-gc'] },
  );
  const [, json = ''] = await running.says(/(\{.*\}) done/, 280_000);
  const { ended, alive, bytes } = JSON.parse(json);
  expect(ended).toBe(10_000);
  // The last ones may still be on a stack.
  expect(alive).toBeLessThan(50);
  expect(bytes).toBeLessThan(100);
  await running.ended();
}, 300_000);
