import { BackgroundRegistry, BashSession } from 'agent-bash';
import { formatResult } from 'agent-bash/ai';
import { type AnthropicBashOutput, anthropicBash } from 'agent-bash/anthropic';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../sandbox/support.ts';
import { confined, folder } from '../support/index.ts';
import { anthropicApi, MAJORS, use } from './fixtures/wire.ts';

const prompt = 'go on';

/** One call without the SDK: its last output, and the text for the model. */
async function called(options: Parameters<typeof anthropicBash>[0], input: unknown, abortSignal?: AbortSignal) {
  const tool = anthropicBash(options);
  const outputs: AnthropicBashOutput[] = [];
  for await (const output of tool.execute(input as never, { toolCallId: 'toolu_1', abortSignal })) outputs.push(output);
  const output = outputs.pop() as AnthropicBashOutput;
  return { output, updates: outputs, text: tool.toModelOutput({ output }).value };
}

describe.each(MAJORS)('%s', (name, { ai, claude }) => {
  const stopWhen = ai.stepCountIs(5);

  it('Claude receives its tool’s description, and reads the text of the result', async () => {
    const api = anthropicApi([use({ command: 'echo out; echo err >&2; exit 3' })], 'done');
    const tools = { bash: anthropicBash({ cwd: folder() }) };
    const { text, steps } = await ai.generateText({ model: claude(api), prompt, tools, stopWhen });
    expect(text).toBe('done');
    expect(api.requests[0].tools).toEqual([{ type: 'bash_20250124', name: 'bash' }]);
    const [call, result] = api.requests[1].messages.slice(-2);
    expect(call.content).toMatchObject([{ type: 'tool_use', id: 'toolu_1', name: 'bash' }]);
    expect(result.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        content: '[command failed: exit code 3]\n\nstdout:\nout\n\nstderr:\nerr',
      },
    ]);
    const output = steps[0]?.toolResults[0]?.output as never;
    expect(output).toMatchObject({ stdout: 'out\n', exitCode: 3, status: 'exited' });
    expect(result.content[0].content).toBe(formatResult(output));
  });

  it('a refusal is an error for it', async () => {
    const api = anthropicApi([use({ command: 'git push --force' })], 'done');
    await ai.generateText({ model: claude(api), prompt, tools: { bash: anthropicBash() }, stopWhen });
    const [result] = api.requests[1].messages.at(-1).content;
    expect(result).toMatchObject({ type: 'tool_result', is_error: true });
    expect(result.content).toContain('--force-with-lease');
  });

  it('a restart alone passes the schema, resets the session and says so', async () => {
    const folder = await temporaryFolder();
    await using session = new BashSession({ cwd: folder });
    const api = anthropicApi(
      [use({ command: 'cd /; here=there' })],
      [use({ command: 'echo "$here $PWD"' }, 'toolu_2')],
      [use({ restart: true }, 'toolu_3')],
      [use({ command: 'echo "$here $PWD"' }, 'toolu_4')],
      'done',
    );
    const tools = { bash: anthropicBash({ session }) };
    const { steps } = await ai.generateText({ model: claude(api), prompt, tools, stopWhen });
    const read = (at: number) => api.requests[at].messages.at(-1).content[0].content;
    expect(read(2)).toContain('stdout:\nthere /\n');
    expect(read(3)).toBe(`The shell was restarted: it remembers nothing, and is in ${folder}.`);
    expect(read(4)).toContain(`stdout:\n ${folder}\n`);
    expect(steps[2]?.toolResults).toMatchObject([{ output: { restarted: true } }]);
    expect(api.requests[3].messages.at(-2).content).toMatchObject([{ type: 'tool_use', input: { restart: true } }]);
  });

  it('streamText: snapshots are preliminary results, the result is final', async () => {
    const api = anthropicApi([use({ command: 'echo a; sleep .5; echo b' })], 'done');
    const tools = { bash: anthropicBash({ updateIntervalMs: 50 }) };
    const stream = ai.streamText({ model: claude(api), prompt, tools, stopWhen });
    const results = [];
    for await (const part of stream.fullStream) if (part.type === 'tool-result') results.push(part);
    const live = expect.objectContaining({ status: 'running', stdout: 'a\n' });
    expect(results.filter(({ preliminary }) => preliminary).map(({ output }) => output)).toContainEqual(live);
    expect(results.at(-1)).toMatchObject({ output: { status: 'exited', stdout: 'a\nb\n' } });
    expect(results.at(-1)?.preliminary).toBeFalsy();
    expect(api.requests[1].messages.at(-1).content[0].content).toBe('stdout:\na\nb\n\nexit code: 0');
  });

  it('the context of the call reaches perCall', async () => {
    const bash = anthropicBash({ perCall: ({ context }) => ({ env: { WHO: (context as { user: string }).user } }) });
    const api = anthropicApi([use({ command: 'echo $WHO' })], 'done');
    const context = { user: 'ann' };
    const passed = name === 'ai 6' ? { experimental_context: context } : { toolsContext: { bash: context } };
    await ai.generateText({ model: claude(api), prompt, tools: { bash }, stopWhen, ...passed });
    expect(api.requests[1].messages.at(-1).content[0].content).toContain('ann');
  });

  it('an abort ends the command', async () => {
    const api = anthropicApi([use({ command: 'echo begun; exec sleep 60' })], 'done');
    const abort = new AbortController();
    const ended = vi.fn();
    const tools = { bash: anthropicBash({ onAfterRun: ({ result }) => ended(result), updateIntervalMs: 20 }) };
    const stream = ai.streamText({
      model: claude(api),
      prompt,
      tools,
      stopWhen,
      abortSignal: abort.signal,
      onError: () => {},
    });
    for await (const part of stream.fullStream) {
      if (part.type === 'tool-result' && JSON.stringify(part.output).includes('begun')) abort.abort();
    }
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ status: 'aborted', stdout: 'begun\n' });
  });
});

it('without a session there is nothing to restart, and it says so', async () => {
  expect(await called({}, { restart: true })).toMatchObject({
    output: { restarted: false },
    text: 'There was nothing to restart: each command has a fresh shell, and nothing is left of the ones before.',
  });
});

it('a restart with a command resets the session and runs it there', async () => {
  const cwd = folder();
  await using session = new BashSession({ cwd });
  await session.run('cd /usr; x=1');
  const { output, text } = await called({ session }, { restart: true, command: 'echo "${x-none} $PWD"' });
  expect(output).toMatchObject({
    stdout: `none ${cwd}\n`,
    notes: [expect.stringContaining('The shell was restarted')],
  });
  expect(text).toContain(`[The shell was restarted: it remembers nothing, and is in ${cwd}.]`);
});

it('perCall says whose session is reset; a throw in it resets nothing', async () => {
  await using ann = new BashSession({ cwd: folder() });
  await using bob = new BashSession({ cwd: folder() });
  await Promise.all([ann.run('x=1'), bob.run('x=1')]);
  await called({ perCall: () => ({ session: ann }) }, { restart: true });
  expect((await ann.run('echo "${x-none}"')).stdout).toBe('none\n');
  expect((await bob.run('echo "${x-none}"')).stdout).toBe('1\n');
  const thrown = () => {
    throw new Error('nobody');
  };
  expect((await called({ session: bob, perCall: thrown }, { restart: true })).text).toBe('nobody');
  expect((await bob.run('echo "${x-none}"')).stdout).toBe('1\n');
});

it('a restart whose command is refused is reported all the same', async () => {
  const session = new BashSession({ cwd: folder() });
  onTestFinished(() => session.close());
  const { output, text } = await called({ session }, { restart: true, command: 'git push --force' });
  expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  expect(text).toMatch(/^The shell was restarted: .*\n.*force/);
});

it('a restart that is aborted waits no longer; one that was aborted before does nothing', async () => {
  await using session = new BashSession();
  let running: Promise<unknown> = Promise.resolve();
  await new Promise<void>((begun) => {
    running = session.run('echo; sleep 60', { onSnapshot: () => begun(), snapshotIntervalMs: 10 });
  });
  const abort = new AbortController();
  const restarted = called({ session }, { restart: true }, abort.signal);
  abort.abort();
  expect((await restarted).output).toMatchObject({ code: 'ABORT_ERR' });
  expect((await called({ session }, { restart: true }, abort.signal)).output).toMatchObject({ code: 'ABORT_ERR' });
  await session.close();
  await running;
  expect((await called({ session }, { restart: true })).output).toMatchObject({ code: 'ERR_BASH_CLOSED' });
});

it.each([[{}], [null], [{ command: 5 }], [{ restart: false }], [{ command: 'true', restart: 'yes' }], ['ls']])(
  '%j is refused by the schema and by the tool, and runs nothing',
  async (input) => {
    const onBeforeRun = vi.fn();
    expect(anthropicBash().inputSchema['~standard'].validate(input)).toHaveProperty('issues');
    expect((await called({ onBeforeRun }, input)).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    expect(onBeforeRun).not.toHaveBeenCalled();
  },
);

it('fields that Claude does not know are ignored', () => {
  const { validate } = anthropicBash().inputSchema['~standard'];
  expect(validate({ command: 'ls', restart: null, mode: 'slow', check_pid: 1 })).toEqual({ value: { command: 'ls' } });
});

it('the model is not told of inputs that it does not have', async () => {
  const timedOut = await called({ timeoutMs: 200, graceMs: 0 }, { command: 'echo x; sleep 60' });
  expect(timedOut.output).toMatchObject({ status: 'timed-out' });
  expect(timedOut.text).toContain('COMMAND > FILE 2>&1 &');
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  const moved = await called({ timeoutMs: 2_000, registry }, { command: 'echo x; sleep 60' });
  expect(moved.text).toMatch(/Command backgrounded after 2s timeout \(pid \d+\)/);
  // Confined commands see processes under other numbers.
  expect(moved.text).toMatch(
    confined ? /To stop: kill -9 -PGID, with the PGID that ps .*\]/ : /To stop: kill -9 -\d+\]/,
  );
  const left = await called({ registry }, { command: 'sleep 60 & echo x' });
  const way = confined ? 'kill with the number that ps shows ends it' : 'kill ends it';
  expect(left.text).toMatch(new RegExp(`left running in the background: process \\d+; ${way}; its further output: /`));
  for (const { text } of [timedOut, moved, left]) expect(text).not.toMatch(/check_pid|kill_pid|timeout_ms|mode "/);
});

it('hooks, interception, errorOnFailure and an injected run hold as in createBashTool', async () => {
  const changed = await called(
    { onBeforeRun: ({ command }) => ({ command: `${command} there` }) },
    { command: 'echo' },
  );
  expect(changed.output).toMatchObject({ stdout: 'there\n' });
  const intercepted = await called({ interceptor: true, availableTools: ['read'] }, { command: 'cat a.txt' });
  expect(intercepted.output).toMatchObject({ suggestedTool: { name: 'read' } });
  const tool = anthropicBash({ errorOnFailure: true });
  for await (const output of tool.execute({ command: 'exit 4' }, { toolCallId: '1' })) {
    if ('exitCode' in output && output.exitCode !== null)
      expect(tool.toModelOutput({ output }).type).toBe('error-text');
  }
  const run = vi.fn(async () => Promise.reject(new Error('not here')));
  expect((await called({ run, safety: 'off' }, { command: 'true' })).text).toBe('not here');
  expect(() => anthropicBash({ interceptor: [{ pattern: '(', tool: 'x', message: '' }] })).toThrow(
    'interceptor[0].pattern',
  );
});
