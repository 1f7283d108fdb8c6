import { BackgroundRegistry, bash } from 'agent-bash';
import type { MeterLike, SpanLike, TracerLike } from 'agent-bash/otel';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { until } from '../support/index.ts';
import { instrumented, sdk } from './support.ts';

const broken = (): never => {
  throw new Error('the tracer is broken');
};

/** The warnings of this process until the test ends. */
function warnings(): { code: string; message: string }[] {
  const found: { code: string; message: string }[] = [];
  const listener = (warning: Error) => void found.push(warning as never);
  process.on('warning', listener);
  onTestFinished(() => void process.off('warning', listener));
  return found;
}

/** A span of the SDK whose method of this name throws. */
function spanWithout(span: SpanLike, name: keyof SpanLike): SpanLike {
  return new Proxy(span, {
    get: (target, key) => {
      const value = Reflect.get(target, key);
      if (key === name) return broken;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test.each<[what: string, tracer: TracerLike]>([
  ['that throws', { startSpan: broken }],
  ['that returns nothing', { startSpan: () => undefined as never }],
  ['that returns something else', { startSpan: () => 5 as never }],
  ['whose spans have only methods that throw', { startSpan: () => new Proxy({}, { get: () => broken }) as never }],
  ['whose spans have only getters that throw', { startSpan: () => new Proxy({}, { get: broken }) as never }],
])('a tracer %s disturbs no run', async (_, tracer) => {
  instrumented({ tracer, command: true, traceparent: true });
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  expect(await bash('echo hi; exit 3')).toMatchObject({ stdout: 'hi\n', exitCode: 3 });
  await expect(bash('git push --force')).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  expect(await registry.wait((await registry.start('echo hi')).id)).toMatchObject({ output: 'hi\n' });
});

test.each<[what: string, meter: MeterLike]>([
  ['that throws', { createHistogram: broken }],
  ['that returns nothing', { createHistogram: () => undefined as never }],
  ['whose histogram throws', { createHistogram: () => ({ record: broken }) }],
])('a meter %s disturbs no run, and all have their spans', async (_, meter) => {
  const { tracer, ended } = sdk();
  instrumented({ tracer, meter });
  const results = await Promise.all(Array.from({ length: 5 }, (_, code) => bash(`exit ${code}`)));
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 1, 2, 3, 4]);
  const codes = (await ended(5)).map(({ attributes }) => attributes['process.exit.code']);
  expect(codes.sort()).toEqual([0, 1, 2, 3, 4]);
});

test('one span that fails loses no other', async () => {
  const { tracer, ended } = sdk();
  let started = 0;
  const startSpan: TracerLike['startSpan'] = (name, options) => {
    started += 1;
    return started % 2 === 0 ? broken() : (tracer.startSpan(name, options) as SpanLike);
  };
  instrumented({ tracer: { startSpan } });
  for (let code = 1; code <= 6; code++) await bash(`exit ${code}`);
  expect((await ended(3)).map(({ attributes }) => attributes['process.exit.code'])).toEqual([1, 3, 5]);
});

test('the first failure is a warning of the process, and the others are silent', async () => {
  const found = warnings();
  const uncaught = vi.fn();
  process.on('uncaughtException', uncaught);
  onTestFinished(() => void process.off('uncaughtException', uncaught));
  // Warnings of other tests may arrive late.
  const failing = () => {
    throw new Error('a failure of this test');
  };
  instrumented({ tracer: { startSpan: failing }, meter: { createHistogram: failing } });
  await bash('true');
  await bash('true');
  const ours = () => found.filter(({ message }) => message.endsWith('of this test'));
  await until(() => ours().length > 0);
  expect(ours()).toEqual([
    expect.objectContaining({
      code: 'AGENT_BASH_OTEL',
      message: 'OpenTelemetry failed, and commands go on without it: a failure of this test',
    }),
  ]);
  expect(uncaught).not.toHaveBeenCalled();
});

describe('undoing', () => {
  test('ends the other spans if one of them fails', async () => {
    const { tracer, ended } = sdk();
    let started = 0;
    const startSpan: TracerLike['startSpan'] = (name, options) => {
      const span = tracer.startSpan(name, options) as SpanLike;
      started += 1;
      return started === 1 ? spanWithout(span, 'end') : span;
    };
    const undo = instrumented({ tracer: { startSpan } });
    const stop = new AbortController();
    const runs = [1, 2, 3].map(() => bash('sleep 300', { signal: stop.signal }));
    undo();
    await ended(2);
    stop.abort();
    await Promise.all(runs);
  });
});
