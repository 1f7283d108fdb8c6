import { channel } from 'node:diagnostics_channel';
import { type BashOptions, bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { describe, expect, test } from 'vitest';
import { innerOf } from '../../ts/core/inner.ts';
import { Observer } from '../../ts/observe/observer.ts';
import { instrumented, last, sdk } from './support.ts';

const actor = { agent: 'reviewer', session: 'conversation-7', toolCallId: 'call_7', user: 'ann' };

const NAMED = {
  'gen_ai.agent.name': 'reviewer',
  'gen_ai.conversation.id': 'conversation-7',
  'gen_ai.tool.call.id': 'call_7',
};

test('a span has the agent, the conversation and the call, and a measurement the agent alone', async () => {
  const { tracer, meter, spans, measured } = sdk();
  instrumented({ tracer, meter });
  const call = { id: 'a test:1', kind: 'command', command: 'true', args: [], actor, env: {} };
  channel('agent-bash:call').publish(call);
  const result = { id: call.id, kind: call.kind, pid: 0, status: 'aborted', taskId: null, code: null };
  channel('agent-bash:return').publish(result);
  const [span] = spans();
  expect(span?.attributes).toMatchObject(NAMED);
  expect(JSON.stringify(span?.attributes)).not.toContain('ann');
  const attributes = (await measured())[0]?.points[0]?.attributes;
  expect(attributes).toMatchObject({ 'gen_ai.agent.name': 'reviewer' });
  expect(JSON.stringify(attributes)).not.toMatch(/call_7|conversation-7|ann/);
});

test('a call says who asks, as a copy', () => {
  const seen: { actor: unknown }[] = [];
  const listener = (message: unknown) => void seen.push(message as never);
  channel('agent-bash:call').subscribe(listener);
  Observer.of('command', 'true', { actor }, () => '/');
  Observer.of('command', 'true', {}, () => '/');
  channel('agent-bash:call').unsubscribe(listener);
  expect(seen.map((call) => call.actor)).toEqual([actor, null]);
  expect(seen[0]?.actor).not.toBe(actor);
});

// The option `actor` of bash().
describe.runIf('actor' in innerOf(bash).options.bash)('the option', () => {
  test('names the span of bash()', async () => {
    const { tracer, ended } = sdk();
    instrumented({ tracer });
    await bash('true', { actor } as BashOptions);
    expect((await ended(1))[0]?.attributes).toMatchObject(NAMED);
  });

  const call = { toolCallId: 'call_7', messages: [] };
  const tools: Record<string, () => AsyncIterable<unknown>> = {
    createBashTool: () => createBashTool().execute({ command: 'true' }, call),
    anthropicBash: () => anthropicBash().execute({ command: 'true' }, call),
    openaiShell: () => openaiShell().execute({ action: { commands: ['true'] } }, call),
    openaiLocalShell: () => openaiLocalShell().execute({ action: { type: 'exec', command: ['true'] } }, call),
  };
  test.each(Object.entries(tools))('%s fills in the call of the model', async (_, run) => {
    const { tracer, ended } = sdk();
    instrumented({ tracer });
    await last(run());
    expect((await ended(1))[0]?.attributes).toMatchObject({ 'gen_ai.tool.call.id': 'call_7' });
  });
});
