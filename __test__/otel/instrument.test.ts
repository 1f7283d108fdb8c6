import { channel } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { metrics, trace } from '@opentelemetry/api';
import { bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { type InstrumentOptions, instrument } from 'agent-bash/otel';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/index.ts';
import { instrumented, sdk } from './support.ts';

const CHANNELS = ['call', 'start', 'output', 'kill', 'exit', 'block', 'return'];

/** The channels that have subscribers. */
const heard = () => CHANNELS.filter((name) => channel(`agent-bash:${name}`).hasSubscribers);

test('without it the steps of a tool are its own', () => {
  const steps = () => createBashTool().execute({ command: 'true' }, { toolCallId: '1', messages: [] });
  expect(Object.hasOwn(steps(), 'next')).toBe(false);
  const undo = instrumented({ tracer: sdk().tracer });
  expect(Object.hasOwn(steps(), 'next')).toBe(true);
  undo();
  expect(Object.hasOwn(steps(), 'next')).toBe(false);
});

test('with only a tracer there is no metric', async () => {
  const { tracer, ended, measured, meters } = sdk();
  metrics.setGlobalMeterProvider(meters);
  instrumented({ tracer });
  await bash('true');
  await ended(1);
  expect(await measured()).toEqual([]);
});

test('with only a meter there is no span', async () => {
  const { meter, spans, measured, tracers } = sdk();
  trace.setGlobalTracerProvider(tracers);
  instrumented({ meter, command: true, traceparent: true });
  expect((await bash('echo ${TRACEPARENT-none}')).stdout).toBe('none\n');
  expect(await measured()).toHaveLength(1);
  expect(spans()).toEqual([]);
});

test('without arguments the global providers are used', async () => {
  const { tracers, meters, ended, measured } = sdk();
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(meters);
  instrumented({});
  await bash('true');
  const [span] = await ended(1);
  const { version } = createRequire(import.meta.url)('agent-bash/package.json');
  expect(span?.instrumentationScope).toMatchObject({ name: 'agent-bash', version });
  expect(await measured()).toHaveLength(1);
});

test('global providers may be set up after the instrumentation, and again', async () => {
  instrumented({});
  await bash('true');
  for (let round = 0; round < 2; round++) {
    const { tracers, meters, ended, measured } = sdk();
    trace.setGlobalTracerProvider(tracers);
    metrics.setGlobalMeterProvider(meters);
    await bash('true');
    await ended(1);
    expect(await measured()).toHaveLength(1);
    trace.disable();
    metrics.disable();
  }
});

test('it listens to the channels, and the returned function undoes that', async () => {
  const { tracer, meter, spans, measured } = sdk();
  expect(heard()).toEqual([]);
  const undo = instrumented({ tracer, meter });
  // Without the output, which would cost the commands something.
  expect(heard()).toEqual(['call', 'exit', 'return']);
  undo();
  undo();
  expect(heard()).toEqual([]);
  await bash('true');
  expect(spans()).toEqual([]);
  expect(await measured()).toEqual([]);
});

test('a second call replaces the first, whose function then does nothing', async () => {
  const first = sdk();
  const second = sdk();
  const undoFirst = instrumented({ tracer: first.tracer });
  instrumented({ tracer: second.tracer });
  undoFirst();
  await bash('true');
  await second.ended(1);
  expect(first.spans()).toEqual([]);
});

test('a second call from the other module system replaces the first, too', async () => {
  const first = sdk();
  const second = sdk();
  const other = createRequire(packageRoot)('agent-bash/otel') as { instrument: typeof instrument };
  expect(other.instrument).not.toBe(instrument);
  instrumented({ tracer: first.tracer });
  onTestFinished(other.instrument({ tracer: second.tracer }));
  await bash('true');
  await second.ended(1);
  expect(first.spans()).toEqual([]);
});

test('a second call that fails leaves the first', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  expect(() => instrument({ tracer: 5 as never })).toThrow('tracer: 5 is not a Tracer');
  await bash('true');
  await ended(1);
});

test('spans of runs that go on when it is undone are ended then, without an exit code', async () => {
  const { tracer, spans } = sdk();
  const undo = instrumented({ tracer });
  const stop = new AbortController();
  const run = bash('sleep 300', { signal: stop.signal });
  undo();
  const [span] = spans();
  stop.abort();
  await run;
  expect(span?.attributes).not.toHaveProperty('process.exit.code');
  expect(spans()).toHaveLength(1);
});

test('a run that began before has no span', async () => {
  const { tracer, spans, ended } = sdk();
  const run = bash('sleep .2');
  instrumented({ tracer });
  await run;
  await bash('true');
  await ended(1);
  expect(spans()).toHaveLength(1);
});

test.each<[options: unknown, message: string]>([
  [5, 'options: 5 is not an object'],
  [null, 'options: null is not an object'],
  [{ tracers: {} }, 'instrument: unknown option "tracers": did you mean "tracer"?'],
  [{ tracer: {} }, 'tracer: [object Object] is not a Tracer'],
  [{ tracer: null }, 'tracer: null is not a Tracer'],
  [{ meter: 'x' }, 'meter: "x" is not a Meter'],
  [{ command: 1 }, 'command: 1 is not a boolean'],
  [{ traceparent: 'yes' }, 'traceparent: "yes" is not a boolean'],
])('instrument(%j) is refused', (options, message) => {
  expect(() => instrument(options as InstrumentOptions)).toThrow(
    expect.objectContaining({ name: 'BashError', code: 'ERR_BASH_INVALID_ARG', message }),
  );
  expect(heard()).toEqual([]);
});

test('an option that is undefined counts as left out', () => {
  instrumented({ tracer: undefined, meter: undefined, command: undefined, traceparent: undefined });
  expect(heard()).toEqual(['call', 'exit', 'return']);
});
