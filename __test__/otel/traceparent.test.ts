import { context, createTraceState, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { idOf, instrumented, last, sdk } from './support.ts';

const SHOW = 'echo "${TRACEPARENT-none}"';
const call = { toolCallId: 'call_1', messages: [] };

/** Each way to run a command, with its output at the end. */
const WAYS: Record<string, (command: string) => Promise<string>> = {
  'bash()': async (command) => (await bash(command)).stdout,
  'a session': async (command) => {
    await using session = new BashSession();
    return (await session.run(command)).stdout;
  },
  'a terminal': async (command) => {
    const terminal = new PtySession();
    await terminal.start(command);
    return (await terminal.result()).stdout;
  },
  'a registry': async (command) => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    return (await registry.wait((await registry.start(command)).id)).output;
  },
  createBashTool: async (command) => {
    const output = await last(createBashTool().execute({ command }, call));
    return 'stdout' in output ? output.stdout : '';
  },
};

describe.each(Object.entries(WAYS))('%s', (_, run) => {
  test('TRACEPARENT goes to the command only on request', async () => {
    const { tracer } = sdk();
    instrumented({ tracer });
    expect(await run(SHOW)).toContain('none\n');
  });

  test('on request it names the span of the run', async () => {
    const { tracer, ended } = sdk();
    instrumented({ tracer, traceparent: true });
    const shown = (await run(SHOW)).split('\n')[0]?.trim();
    const [span] = await ended(1);
    const { traceId, spanId } = span?.spanContext() ?? {};
    expect(shown).toBe(`00-${traceId}-${spanId}-01`);
  });
});

test('each command of a session has its own, and none keeps it', async () => {
  const { tracer, ended } = sdk();
  const undo = instrumented({ tracer, traceparent: true });
  const session = new BashSession();
  onTestFinished(() => session.close());
  const shown = [(await session.run(SHOW)).stdout, (await session.run(SHOW)).stdout];
  const ids = (await ended(2)).map(idOf);
  expect(shown.map((line) => line.split('-')[2])).toEqual(ids);
  undo();
  expect((await session.run(SHOW)).stdout).toBe('none\n');
});

test('a TRACEPARENT of the caller stays', async () => {
  const { tracer } = sdk();
  instrumented({ tracer, traceparent: true });
  const shown = async (options: Parameters<typeof bash>[1]) => (await bash(SHOW, options)).stdout;
  expect(await shown({ env: { TRACEPARENT: 'own' } })).toBe('own\n');
  expect(await shown({ env: { TRACEPARENT: null } })).toBe('none\n');
  expect(await shown({ env: { TRACESTATE: 'own=1' } })).toBe('none\n');
  await using session = new BashSession({ env: { TRACEPARENT: 'own' } });
  expect((await session.run(SHOW)).stdout).toBe('own\n');
  const terminal = new PtySession({ env: { TRACEPARENT: 'own' } });
  await terminal.start(SHOW);
  expect((await terminal.result()).stdout).toBe('own\n');
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  const { id } = await registry.start(SHOW, { env: { TRACEPARENT: 'own' } });
  expect((await registry.wait(id)).output).toBe('own\n');
  const tool = createBashTool({ env: { TRACEPARENT: 'own' } });
  expect(await last(tool.execute({ command: SHOW }, call))).toMatchObject({ stdout: 'own\n' });
});

test('it takes the place of one that the host itself has inherited', async () => {
  const { tracer } = sdk();
  instrumented({ tracer, traceparent: true });
  process.env.TRACEPARENT = 'of the host';
  process.env.TRACESTATE = 'host=1';
  onTestFinished(() => {
    delete process.env.TRACEPARENT;
    delete process.env.TRACESTATE;
  });
  const command = 'echo "${TRACEPARENT-none} ${TRACESTATE-none}"';
  expect((await bash(command)).stdout).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01 none\n$/);
});

test('the state of the trace goes with it', async () => {
  const { tracer } = sdk();
  instrumented({ tracer, traceparent: true });
  const remote = {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: 1,
    traceState: createTraceState('vendor=value'),
  };
  const command = 'echo "$TRACEPARENT $TRACESTATE"';
  const { stdout } = await context.with(trace.setSpanContext(context.active(), remote), () => bash(command));
  expect(stdout).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01 vendor=value\n$/);
});

test('a trace that is not sampled goes on unsampled', async () => {
  const { tracer } = sdk({ sampler: new AlwaysOffSampler() });
  instrumented({ tracer, traceparent: true });
  expect((await bash(SHOW)).stdout).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00\n$/);
});

test('without an SDK there is none', async () => {
  instrumented({ traceparent: true });
  expect((await bash(SHOW)).stdout).toBe('none\n');
});
