import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry } from 'agent-bash';
import { backgroundNotices, createBashTool } from 'agent-bash/ai';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { folder } from '../support/index.ts';
import { callTool } from './fixtures/call.ts';
import { MAJORS, type PromptMessage, type Step } from './fixtures/majors.ts';

let registry: BackgroundRegistry;

beforeEach(() => {
  const made = new BackgroundRegistry();
  registry = made;
  onTestFinished(() => made.close());
});

type Message = { role: string; content: string };
const before: Message[] = [{ role: 'user', content: 'go on' }];

/** The notices of a step, without the line that says who sent them. */
function told(step: { messages: Message[] } | undefined): string[] | undefined {
  if (step === undefined) return undefined;
  expect(step.messages.slice(0, -1)).toEqual(before);
  const last = step.messages.at(-1) as Message;
  expect(last.role).toBe('user');
  const [first, lines = ''] = last.content.split('\n\n');
  expect(first).toBe('Automatic notice, not written by the user:');
  return lines.split('\n');
}

async function ended(command: string) {
  const { id } = await registry.start(command);
  return (await registry.wait(id)).task;
}

describe('a step', () => {
  it('stays as it is while nothing has ended', async () => {
    const notices = backgroundNotices(registry);
    expect(notices({ messages: before })).toBeUndefined();
    await registry.start('sleep 60');
    expect(notices({ messages: before })).toBeUndefined();
  });

  it.each([
    ['seq 3', 'completed', '3 lines'],
    ['true', 'completed', '0 lines'],
    ['echo a; exit 3', 'failed: exit code 3', '1 lines'],
    ['echo a; kill -SEGV $$', 'killed: SIGSEGV', '1 lines'],
  ])('%s: %s, %s', async (command, how, lines) => {
    const notices = backgroundNotices(registry);
    const { pid, logPath } = await ended(command);
    expect(told(notices({ messages: before }))).toEqual([
      `[Background process ${pid} (${command}) has ended: ${how}. ${lines}. Full output: ${logPath}]`,
    ]);
    expect(notices({ messages: before })).toBeUndefined();
  });

  it('announces each task once, and several at a time', async () => {
    const notices = backgroundNotices(registry);
    const [one, two] = [await ended('true'), await ended('exit 1')];
    expect(told(notices({ messages: before }))).toHaveLength(2);
    const three = await ended('exit 2');
    const again = told(notices({ messages: before }));
    expect(again).toEqual([expect.stringContaining(`process ${three.pid} (exit 2)`)]);
    expect(again?.[0]).not.toContain(one.id);
    expect(again?.[0]).not.toContain(two.id);
  });

  it('does not announce earlier ends', async () => {
    await ended('true');
    expect(backgroundNotices(registry)({ messages: before })).toBeUndefined();
  });

  it('is not told of an end that the model has read of', async () => {
    const notices = backgroundNotices(registry);
    const checked = await ended('true');
    await callTool({ registry }, { check_pid: checked.pid });
    const killed = await registry.start('sleep 60');
    await callTool({ registry }, { kill_pid: killed.pid });
    expect(notices({ messages: before })).toBeUndefined();
  });

  it('gives the number of new lines since the last check', async () => {
    const notices = backgroundNotices(registry);
    const cwd = folder();
    const { id, pid } = await registry.start('mkfifo go; echo one; read x <go; seq 5', { cwd });
    await registry.wait(id, { pattern: 'one' });
    await callTool({ registry }, { check_pid: pid });
    appendFileSync(join(cwd, 'go'), '\n');
    await registry.wait(id);
    expect(told(notices({ messages: before }))?.[0]).toContain(
      ': completed. 5 new lines since last check. Full output:',
    );
  });

  it('shows a long command of many lines on one line, cut', async () => {
    const notices = backgroundNotices(registry);
    await ended(`: ${'x'.repeat(100)}\n\n:`);
    expect(told(notices({ messages: before }))?.[0]).toContain(`(: ${'x'.repeat(78)}…)`);
  });

  it('does not fail without the log, or with a registry that is closed', async () => {
    const notices = backgroundNotices(registry);
    const { logPath } = await ended('echo a');
    writeFileSync(logPath, '');
    expect(told(notices({ messages: before }))?.[0]).toContain('completed. 0 lines.');
    await ended('true');
    await registry.close();
    expect(notices({ messages: before })).toBeUndefined();
  });
});

describe.each(MAJORS)('%s', (_name, { ai, script }) => {
  const texts = (messages: PromptMessage[] | undefined) =>
    (messages ?? []).filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));

  it.each(['generateText', 'streamText', 'ToolLoopAgent'])('%s tells the model between two steps', async (way) => {
    const steps: Step[] = [
      { call: { command: 'mkfifo go; read x <go; exit 7', mode: 'background' } },
      { call: { command: 'until [ -p go ]; do sleep .01; done; echo >go' } },
      { call: { command: 'true' } },
      { say: 'done' },
    ];
    const { model, requests } = script(steps);
    const notices = backgroundNotices(registry);
    const prepareStep = async (step: { messages: never[]; stepNumber: number }) => {
      // The task is as good as ended; its end has to be known.
      if (step.stepNumber === 2) await registry.wait(registry.list()[0]?.id ?? '');
      return notices(step);
    };
    const tools = { bash: createBashTool({ cwd: folder(), registry }) };
    const call = { model, tools, prepareStep: prepareStep as never };
    const run = { prompt: 'go on', stopWhen: ai.stepCountIs(9) };
    if (way === 'generateText') await ai.generateText({ ...call, ...run });
    else if (way === 'streamText') await ai.streamText({ ...call, ...run }).text;
    else await new ai.ToolLoopAgent(call).generate({ prompt: 'go on' });
    const seen = requests().map(({ prompt }) => texts(prompt).filter((text) => text.includes('has ended')));
    expect(seen.map((notes) => notes.length)).toEqual([0, 0, 1, expect.any(Number)]);
    expect(seen[2]?.[0]).toContain('failed: exit code 7');
    // The notice follows the model's last message.
    expect(requests()[2]?.prompt.at(-1)?.role).toBe('user');
  });
});
