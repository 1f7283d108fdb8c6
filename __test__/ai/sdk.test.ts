import { access, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BashToolOutput, createBashTool } from 'agent-bash/ai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MAJORS, type Step } from './fixtures/majors.ts';

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-bash-ai-')));
});
afterAll(() => rm(folder, { recursive: true }));

const prompt = 'go on';
const steps = (...inputs: Record<string, unknown>[]): Step[] => [...inputs.map((call) => ({ call })), { say: 'done' }];

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const part of parts) collected.push(part);
  return collected;
}

describe.each(MAJORS)('%s', (name, { ai, script }) => {
  const stopWhen = ai.stepCountIs(5);

  it('generateText: the model receives the tool’s description and reads its text', async () => {
    const { model, requests, lastResult } = script(steps({ command: 'echo out; echo err >&2; exit 3' }));
    const tools = { bash: createBashTool({ cwd: folder }) };
    const { text, steps: taken } = await ai.generateText({ model, prompt, tools, stopWhen });
    expect(text).toBe('done');
    expect(requests()[0]?.tools).toMatchObject([
      {
        type: 'function',
        name: 'bash',
        description: expect.stringMatching(`<pwd>${folder}</pwd>$`),
        inputSchema: { type: 'object', additionalProperties: false },
      },
    ]);
    expect(lastResult()).toMatchObject({
      type: 'text',
      value: '[command failed: exit code 3]\n\nstdout:\nout\n\nstderr:\nerr',
    });
    expect(taken[0]?.toolResults).toMatchObject([{ output: { stdout: 'out\n', stderr: 'err\n', exitCode: 3 } }]);
  });

  it('generateText: errors are read as errors, and the loop goes on', async () => {
    const inputs = [{ command: 'true', cwd: '/none' }, { command: 'exit 4' }, { command: 'true' }];
    const { model, requests } = script(steps(...inputs));
    const tools = { bash: createBashTool({ errorOnFailure: true }) };
    await ai.generateText({ model, prompt, tools, stopWhen });
    const results = requests()
      .at(-1)
      ?.prompt.filter(({ role }) => role === 'tool')
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ output }) => output)));
    expect(results).toMatchObject([
      { type: 'error-text', value: 'Working directory does not exist: /none' },
      { type: 'error-text', value: '[command failed: exit code 4]\n\n(no output)' },
      { type: 'text', value: '(no output)' },
    ]);
  });

  it('generateText: input that the schema refuses runs nothing', async () => {
    const { model, lastResult } = script(steps({ command: 'true', mode: 'fast' }));
    const onBeforeRun = vi.fn();
    await ai.generateText({ model, prompt, tools: { bash: createBashTool({ onBeforeRun }) }, stopWhen });
    expect(onBeforeRun).not.toHaveBeenCalled();
    expect(lastResult()).toMatchObject({
      type: 'error-text',
      value: expect.stringContaining('must be \\"default\\", '),
    });
  });

  it('generateText: one tool serves calls side by side', async () => {
    const fifo = `fifo-${name.replace(' ', '')}`;
    const tools = { bash: createBashTool({ cwd: folder }) };
    const ask = (command: string) =>
      ai.generateText({ model: script(steps({ command })).model, prompt, tools, stopWhen });
    const [left, right] = await Promise.all([
      ask(`mkfifo ${fifo}; echo hello > ${fifo}`),
      ask(`until [ -p ${fifo} ]; do sleep .01; done; cat ${fifo}`),
    ]);
    expect(left.steps[0]?.toolResults).toMatchObject([{ output: { exitCode: 0 } }]);
    expect(right.steps[0]?.toolResults).toMatchObject([{ output: { stdout: 'hello\n' } }]);
  });

  it('generateText: the context of the call reaches perCall', async () => {
    const { model } = script(steps({ command: 'echo $WHO' }));
    const bash = createBashTool({
      perCall: ({ context, toolCallId }) => ({
        env: { WHO: `${(context as { user: string } | undefined)?.user} ${toolCallId}` },
      }),
    });
    const context = { user: 'ann' };
    const passed = name === 'ai 6' ? { experimental_context: context } : { toolsContext: { bash: context } };
    const { steps: taken } = await ai.generateText({ model, prompt, tools: { bash }, stopWhen, ...passed });
    expect(taken[0]?.toolResults).toMatchObject([{ output: { stdout: expect.stringMatching(/^ann call-\d+\n$/) } }]);
    const without = script(steps({ command: 'echo $WHO' }));
    const again = await ai.generateText({ model: without.model, prompt, tools: { bash }, stopWhen });
    expect(again.steps[0]?.toolResults).toMatchObject([
      { output: { stdout: expect.stringMatching(/^undefined call-\d+\n$/) } },
    ]);
  });

  it('streamText: snapshots are preliminary results, the result is final', async () => {
    const { model } = script(steps({ command: 'echo a; sleep .5; echo b' }));
    const tools = { bash: createBashTool({ updateIntervalMs: 50 }) };
    const stream = ai.streamText({ model, prompt, tools, stopWhen });
    const results = (await all(stream.fullStream)).filter((part) => part.type === 'tool-result');
    const preliminary = results.filter((part) => part.preliminary);
    const first = preliminary.find(({ output }) => (output as { stdout: string }).stdout !== '');
    expect(first?.output).toMatchObject({ status: 'running', stdout: 'a\n', exitCode: null });
    // The SDK gives the last yield twice: as it comes, and as the final result.
    expect(preliminary.at(-1)?.output).toMatchObject({ status: 'exited', stdout: 'a\nb\n' });
    const final = results.filter((part) => !part.preliminary);
    expect(final).toMatchObject([{ output: { status: 'exited', stdout: 'a\nb\n', exitCode: 0 } }]);
    expect((await stream.steps)[0]?.toolResults).toMatchObject([{ output: { stdout: 'a\nb\n' } }]);
  });

  it('streamText: the stream of the interface has both, and its messages go back to the model', async () => {
    const { model } = script(steps({ command: 'echo a; sleep 1; echo b' }));
    const tools = { bash: createBashTool({ updateIntervalMs: 50 }) };
    const stream = ai.streamText({ model, prompt, tools, stopWhen }).toUIMessageStream();
    const outputs: (BashToolOutput & { preliminary: boolean })[] = [];
    let message: unknown;
    for await (const seen of ai.readUIMessageStream({ stream })) {
      message = seen;
      for (const part of seen.parts) {
        if (part.type !== 'tool-bash' || !('output' in part) || part.state !== 'output-available') continue;
        outputs.push({ ...(part.output as BashToolOutput), preliminary: part.preliminary ?? false });
      }
    }
    const live = { status: 'running', stdout: 'a\n', preliminary: true };
    expect(outputs).toContainEqual(expect.objectContaining(live));
    expect(outputs.at(-1)).toMatchObject({ status: 'exited', stdout: 'a\nb\n', preliminary: false });
    const messages = await ai.convertToModelMessages([message as never], { tools });
    expect(JSON.stringify(messages)).toContain(JSON.stringify({ type: 'text', value: 'a\nb' }));
  });

  it('streamText: an abort ends the command, and what the interface kept reads as interrupted', async () => {
    const { model } = script(steps({ command: 'echo a; sleep 60' }));
    const abort = new AbortController();
    const ended = vi.fn();
    const tools = {
      bash: createBashTool({ updateIntervalMs: 50, onAfterRun: ({ result }) => void ended(result) }),
    };
    const stream = ai.streamText({ model, prompt, tools, stopWhen, abortSignal: abort.signal, onError: () => {} });
    let last: { parts: unknown[] } | undefined;
    for await (const seen of ai.readUIMessageStream({ stream: stream.toUIMessageStream(), onError: () => {} })) {
      last = seen;
      if (JSON.stringify(seen.parts).includes('"running"')) abort.abort();
    }
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce(), 60_000);
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ status: 'aborted', stdout: 'a\n', exitCode: 130 });
    const messages = await ai.convertToModelMessages([last as never], { tools });
    expect(JSON.stringify(messages)).toContain('[command interrupted]');
  });

  it('generateText: an abort ends the command', async () => {
    const abort = new AbortController();
    const ended = vi.fn();
    const tools = { bash: createBashTool({ cwd: folder, onAfterRun: ({ result }) => void ended(result) }) };
    const started = join(folder, `started-${name.replace(' ', '')}`);
    const { model } = script(steps({ command: `echo a; echo > ${started}; sleep 60` }));
    vi.waitFor(() => access(started), 60_000).finally(() => abort.abort());
    await ai.generateText({ model, prompt, tools, stopWhen, abortSignal: abort.signal }).catch(() => {});
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce(), 60_000);
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ status: 'aborted', stdout: 'a\n' });
  });

  it('ToolLoopAgent: generate and stream', async () => {
    const inputs = [{ command: `echo one > note` }, { command: 'cat note', cwd: folder }];
    const tools = { bash: createBashTool({ cwd: folder }) };
    const generating = script(steps(...inputs));
    const generated = await new ai.ToolLoopAgent({ model: generating.model, tools }).generate({ prompt });
    expect(generated.text).toBe('done');
    expect(generating.lastResult()).toMatchObject({ value: 'one' });
    const streaming = script(steps(...inputs));
    const streamed = await new ai.ToolLoopAgent({ model: streaming.model, tools }).stream({ prompt });
    expect((await all(streamed.textStream)).join('')).toBe('done');
    expect(streaming.lastResult()).toMatchObject({ value: 'one' });
  });
});

describe('ai 7', () => {
  const [, { ai, script }] = MAJORS[1] as (typeof MAJORS)[number];
  const stopWhen = ai.stepCountIs(5);

  it.each(['generateText', 'streamText'] as const)(
    '%s: a time limit of the tool keeps the partial output',
    async (name) => {
      const { model, lastResult } = script(steps({ command: 'echo a; sleep 60' }));
      const call = { model, prompt, tools: { bash: createBashTool() }, stopWhen, timeout: { toolMs: 1_000 } };
      const { steps: taken } = name === 'generateText' ? await ai.generateText(call) : ai.streamText(call);
      expect((await taken)[0]?.toolResults).toMatchObject([{ output: { status: 'aborted', stdout: 'a\n' } }]);
      const value = lastResult()?.value;
      expect(value).toMatch(/^\[command interrupted\]\n\na\n\nexit code: 130\n\n/);
      expect(value).toContain('[the time limit of the tool call was reached]');
    },
  );
});
