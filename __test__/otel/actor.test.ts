import { channel } from 'node:diagnostics_channel';
import { BackgroundRegistry, BashSession, bash, type ObservedCall } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { describe, expect, onTestFinished, test } from 'vitest';
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
  await bash('true', { actor });
  const [span] = spans();
  expect(span?.attributes).toMatchObject(NAMED);
  expect(JSON.stringify(span?.attributes)).not.toContain('ann');
  const attributes = (await measured())[0]?.points[0]?.attributes;
  expect(attributes).toMatchObject({ 'gen_ai.agent.name': 'reviewer' });
  expect(JSON.stringify(attributes)).not.toMatch(/call_7|conversation-7|ann/);
});

test('a call says who asks, as a copy: of bash(), of a session and its commands, of a registry', async () => {
  const seen: ObservedCall['actor'][] = [];
  const listener = (message: unknown) => void seen.push((message as ObservedCall).actor);
  channel('agent-bash:call').subscribe(listener);
  onTestFinished(() => void channel('agent-bash:call').unsubscribe(listener));
  await bash('true', { actor });
  await bash('true');
  await using session = new BashSession({ actor });
  await session.run('true');
  await session.run('true', { actor: { agent: 'other' } });
  await using registry = new BackgroundRegistry();
  await registry.start('true', { actor });
  expect(seen).toEqual([actor, null, actor, { agent: 'other' }, actor]);
  expect(seen[0]).not.toBe(actor);
});

describe('the option actor', () => {
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
