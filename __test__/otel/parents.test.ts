import { context, type Span, trace } from '@opentelemetry/api';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { createBashTool, createTerminalTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { createLocalSandbox } from 'agent-bash/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MAJORS } from '../ai/fixtures/majors.ts';
import { MAJORS as MCP_MAJORS } from '../mcp/majors.ts';
import { idOf, instrumented, last, parentOf, sdk } from './support.ts';

function registryOf(): BackgroundRegistry {
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  return registry;
}

const call = { toolCallId: 'call_1', messages: [] };
const exec = (command: string) => ({ action: { type: 'exec' as const, command: ['bash', '-c', command] } });

/** Each way to run a command. Some resolve before its end. */
const WAYS: Record<string, (command: string) => Promise<unknown>> = {
  'bash()': (command) => bash(command),
  'a session': async (command) => {
    await using session = new BashSession();
    await session.run(command);
  },
  'a terminal': async (command) => {
    const terminal = new PtySession();
    await terminal.start(command);
    await terminal.result();
  },
  'a registry': (command) => registryOf().start(command),
  'mode background': (command) => bash(command, { mode: 'background', registry: registryOf() }),
  'a command that moves to the background': (command) =>
    bash(`sleep .5; ${command}`, { timeoutMs: 50, registry: registryOf() }),
  createBashTool: (command) => last(createBashTool().execute({ command }, call)),
  'createBashTool with a session': async (command) => {
    await using session = new BashSession();
    await last(createBashTool({ session }).execute({ command }, call));
  },
  'createBashTool in a terminal': (command) => last(createBashTool({ terminal: {} }).execute({ command }, call)),
  'createBashTool in a local sandbox': (command) =>
    last(createBashTool({ sandbox: createLocalSandbox() as never }).execute({ command }, call)),
  'createBashTool in the background': (command) =>
    last(createBashTool({ registry: registryOf() }).execute({ command, mode: 'background' }, call)),
  createTerminalTool: async (command) => {
    const tool = createTerminalTool();
    onTestFinished(() => tool.close());
    await tool.execute({ action: 'start', command }, call);
  },
  anthropicBash: (command) => last(anthropicBash().execute({ command }, call)),
  openaiShell: (command) => last(openaiShell().execute({ action: { commands: [command] } }, call)),
  openaiLocalShell: (command) => last(openaiLocalShell().execute(exec(command), call)),
  agentsShell: (command) => agentsShell().run({ commands: [command] }),
};

test.each(Object.entries(WAYS))('the parent is the span that was active when the call was made: %s', async (_, run) => {
  const { tracer, ended, inSpan } = sdk();
  instrumented({ tracer });
  // Both at once: contexts must not mix.
  const pairs = await Promise.all(['3', '4'].map((code) => inSpan(`caller ${code}`, () => run(`exit ${code}`))));
  const spans = await ended(2);
  for (const [index, code] of [3, 4].entries()) {
    const caller = pairs[index]?.[0] as Span;
    const span = spans.find(({ attributes }) => attributes['process.exit.code'] === code);
    expect(parentOf(span)).toBe(idOf(caller));
    expect(span?.spanContext().traceId).toBe(caller.spanContext().traceId);
  }
});

test('commands of a session that wait for their turn have their own parents', async () => {
  const { tracer, ended, inSpan } = sdk();
  instrumented({ tracer });
  const session = new BashSession();
  onTestFinished(() => session.close());
  const codes = [1, 2, 3, 4];
  const pairs = await Promise.all(codes.map((code) => inSpan('caller', () => session.run(`sleep .05; exit ${code}`))));
  const spans = await ended(4);
  expect(spans.map(parentOf)).toEqual(pairs.map(([caller]) => idOf(caller)));
});

test('all commands of one action have the same parent', async () => {
  const { tracer, ended, inSpan } = sdk();
  instrumented({ tracer });
  const commands = ['sleep .3; exit 1', 'sleep .3; exit 2', 'exit 3'];
  const [caller] = await inSpan('caller', () => last(openaiShell().execute({ action: { commands } }, call)));
  expect((await ended(3)).map(parentOf)).toEqual(commands.map(() => idOf(caller)));
});

// The consumer of a tool's outputs may run elsewhere than its caller, as in a framework that collects them.
test.each([
  ['createBashTool', () => createBashTool().execute({ command: 'sleep .6' }, call)],
  ['anthropicBash', () => anthropicBash().execute({ command: 'sleep .6' }, call)],
  ['openaiShell', () => openaiShell().execute({ action: { commands: ['sleep .6', 'true'] } }, call)],
])('%s: outputs that are consumed in another span change no parent', async (_, start) => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  const [caller, consumer] = ['caller', 'consumer'].map((name) => tracer.startSpan(name)) as [Span, Span];
  const within = (span: Span) => trace.setSpan(context.active(), span);
  const outputs = context.with(within(caller), start) as AsyncGenerator<unknown>;
  await context.with(within(consumer), () => last(outputs));
  for (const span of await ended(1)) expect(parentOf(span)).toBe(idOf(caller));
});

test('outputs that are given up end their command and its span', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  for await (const output of createBashTool({ updateIntervalMs: 50 }).execute({ command: 'sleep 300' }, call)) {
    if ('status' in output && output.status === 'running') break;
  }
  expect((await ended(1))[0]?.attributes).toMatchObject({ 'error.type': 'aborted' });
});

test('without an active span a run begins a trace', async () => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  await bash('true');
  expect(parentOf((await ended(1))[0])).toBeUndefined();
});

describe.each(MAJORS)('%s', (_, { ai, script }) => {
  test('generateText: the parent is the span around it', async () => {
    const { tracer, ended, inSpan } = sdk();
    instrumented({ tracer });
    const { model } = script([{ call: { command: 'exit 3' } }, { say: 'done' }]);
    const tools = { bash: createBashTool() };
    const [agent] = await inSpan('agent', () =>
      ai.generateText({ model, prompt: 'go on', tools, stopWhen: ai.stepCountIs(3) }),
    );
    expect((await ended(1)).map(parentOf)).toEqual([idOf(agent)]);
  });

  test('streamText: the parent is the span around it', async () => {
    const { tracer, ended, inSpan } = sdk();
    instrumented({ tracer });
    const { model } = script([{ call: { command: 'exit 3' } }, { say: 'done' }]);
    const tools = { bash: createBashTool() };
    const [agent] = await inSpan('agent', async () => {
      const streamed = ai.streamText({ model, prompt: 'go on', tools, stopWhen: ai.stepCountIs(3) });
      await streamed.consumeStream();
    });
    expect((await ended(1)).map(parentOf)).toEqual([idOf(agent)]);
  });
});

test.each(MCP_MAJORS)('MCP, SDK $major: calls at once have spans of their own', async ({ connect }) => {
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  const { call } = await connect();
  await Promise.all(['3', '4'].map((code) => call('bash', { command: `exit ${code}` })));
  const codes = (await ended(2)).map(({ attributes }) => attributes['process.exit.code']);
  expect(codes.sort()).toEqual([3, 4]);
});
