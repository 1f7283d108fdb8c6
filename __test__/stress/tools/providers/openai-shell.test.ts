import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, TRUNCATE } from 'agent-bash';
import { openaiShell, type ShellOutput } from 'agent-bash/openai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAJORS, openaiApi, shellCall } from '../../../providers/fixtures/wire.ts';
import { temporaryFolder } from '../../../sandbox/support.ts';
import { confined } from '../../../support/index.ts';

const prompt = 'go on';

type Options = Parameters<typeof openaiShell>[0];

/** One call, past the SDK: all that it yielded. */
async function yielded(options: Options, input: unknown, abortSignal?: AbortSignal): Promise<ShellOutput[]> {
  const outputs: ShellOutput[] = [];
  const tool = openaiShell(options);
  for await (const output of tool.execute(input as never, { toolCallId: 'call_1', abortSignal })) outputs.push(output);
  return outputs;
}

/** The entries of one action. */
async function entries(options: Options, commands: string[], more: Record<string, unknown> = {}) {
  return ((await yielded(options, { action: { commands, ...more } })).at(-1) as ShellOutput).output;
}

describe.each(MAJORS)('%s', (name, { ai, gpt }) => {
  const stopWhen = ai.stepCountIs(5);

  it('each command of an action has its entry, in their order', async () => {
    const commands = ['echo one; echo err >&2', 'exit 3', 'git push --force', 'echo last'];
    const api = openaiApi([shellCall(commands)], 'done');
    const tools = { shell: openaiShell({ cwd: '/usr' }) };
    const { text } = await ai.generateText({ model: gpt(api), prompt, tools, stopWhen });
    expect(text).toBe('done');
    expect(api.requests[0].tools).toEqual([{ type: 'shell' }]);
    expect(api.requests[1].input.at(-1)).toEqual({
      type: 'shell_call_output',
      call_id: 'call_1',
      output: [
        { stdout: 'one\n', stderr: 'err\n', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 3 } },
        {
          stdout: '',
          stderr: expect.stringContaining('--force-with-lease'),
          outcome: { type: 'exit', exit_code: 126 },
        },
        { stdout: 'last\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      ],
    });
  });

  it('the limits of the call hold, and the length goes back', async () => {
    const call = shellCall(['echo begun; sleep 60', 'seq 1000'], { timeout_ms: 1_000, max_output_length: 50 });
    const api = openaiApi([call], 'done');
    const tools = { shell: openaiShell({ graceMs: 0, timeoutMs: 2_000 }) };
    // Without a store the call goes back as the schema has given it, and not as a reference.
    const providerOptions = { openai: { store: false } };
    await ai.generateText({ model: gpt(api), prompt, tools, stopWhen, providerOptions });
    const [asked, answered] = api.requests[1].input.slice(-2);
    expect(asked).toMatchObject({ type: 'shell_call', action: { commands: call.action.commands } });
    expect(answered.output[0]).toMatchObject({ stdout: 'begun\n', outcome: { type: 'timeout' } });
    if (name === 'ai 6') {
      // Its package reads nothing but the commands of an action.
      expect(answered.output[0].stderr).toMatch(/^\[command timed out after 2s\]\n/);
      expect(answered.output[1].stdout).toHaveLength(3_893);
      return;
    }
    expect(asked.action).toMatchObject({ timeout_ms: 1_000, max_output_length: 50 });
    expect(answered.output[0].stderr).toMatch(/^\[command timed out after 1s\]\nTo give the command more time, /);
    expect(answered.output[1].stdout).toMatch(/\n1000\n\[stdout: Showing last \d+ of \d+ characters\. Full output: /);
    expect(answered.output[1].stdout.split('[')[0].length).toBeLessThanOrEqual(51);
    expect(answered.max_output_length).toBe(50);
  });

  it('streamText: the output so far is a preliminary result of the same shape', async () => {
    const api = openaiApi([shellCall(['echo a', 'echo b; sleep .5; echo c'])], 'done');
    const tools = { shell: openaiShell({ updateIntervalMs: 50 }) };
    const stream = ai.streamText({ model: gpt(api), prompt, tools, stopWhen });
    const results = [];
    for await (const part of stream.fullStream) if (part.type === 'tool-result') results.push(part);
    const first = { stdout: 'a\n', stderr: '', outcome: { type: 'exit', exitCode: 0 } };
    expect(results.filter(({ preliminary }) => preliminary).map(({ output }) => output)).toContainEqual({
      output: [first, { stdout: 'b\n', stderr: '', outcome: { type: 'timeout' } }],
    });
    expect(results.at(-1)).toMatchObject({ output: { output: [first, { stdout: 'b\nc\n' }] } });
    expect(api.requests[1].input.at(-1).output).toHaveLength(2);
  });

  it('an abort ends the command, and those behind it do not start', async () => {
    const folder = await temporaryFolder();
    const api = openaiApi([shellCall(['echo begun; sleep 60', 'touch no'])], 'done');
    const abort = new AbortController();
    const results: unknown[] = [];
    const onAfterRun = ({ result }: { result: unknown }) => void results.push(result);
    const tools = { shell: openaiShell({ cwd: folder, onAfterRun, updateIntervalMs: 20 }) };
    const options = { model: gpt(api), prompt, tools, stopWhen, abortSignal: abort.signal, onError: () => {} };
    for await (const part of ai.streamText(options).fullStream) {
      if (part.type === 'tool-result' && JSON.stringify(part.output).includes('begun')) abort.abort();
    }
    await vi.waitFor(() => expect(results).toHaveLength(2));
    expect(results).toMatchObject([
      { status: 'aborted', stdout: 'begun\n' },
      { status: 'aborted', pid: 0 },
    ]);
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });

  it('the context of the call reaches perCall, once for an action', async () => {
    const perCall = vi.fn(({ context }) => ({ env: { WHO: (context as { user: string }).user } }));
    const shell = openaiShell({ perCall });
    const api = openaiApi([shellCall(['echo $WHO', 'echo $WHO'])], 'done');
    const context = { user: 'ann' };
    const passed = name === 'ai 6' ? { experimental_context: context } : { toolsContext: { shell: context } };
    await ai.generateText({ model: gpt(api), prompt, tools: { shell }, stopWhen, ...passed });
    expect(api.requests[1].input.at(-1).output).toMatchObject([{ stdout: 'ann\n' }, { stdout: 'ann\n' }]);
    expect(perCall).toHaveBeenCalledOnce();
  });
});

it('the keys of the wire mean the same; null counts as left out', async () => {
  const { validate } = openaiShell().inputSchema['~standard'];
  const wire = { commands: ['ls'], timeout_ms: 5, max_output_length: 9 };
  expect(validate({ action: wire, more: 1 })).toEqual({
    value: { action: { commands: ['ls'], timeoutMs: 5, maxOutputLength: 9 } },
  });
  expect(validate({ action: { commands: [], timeout_ms: null, maxOutputLength: null } })).toEqual({
    value: { action: { commands: [] } },
  });
  const [entry] = await entries({ graceMs: 0 }, ['sleep 60'], { timeout_ms: 20 });
  expect(entry?.outcome).toEqual({ type: 'timeout' });
  expect(entry?.stderr).toContain('[timeout_ms 20 was taken as 1000, the shortest that may be asked for]');
});

it.each([
  [{}],
  [null],
  [{ action: [] }],
  [{ action: { commands: 'ls' } }],
  [{ action: { commands: [1] } }],
  [{ action: { commands: ['ls'], timeout_ms: '5' } }],
])('%j is refused by the schema, and the tool answers it without a throw', async (input) => {
  expect(openaiShell().inputSchema['~standard'].validate(input)).toHaveProperty('issues');
  expect(await yielded({}, input)).toEqual([
    {
      output: [
        { stdout: '', stderr: expect.stringMatching(/^the action: /), outcome: { type: 'exit', exitCode: 126 } },
      ],
    },
  ]);
});

it.each([1e308, 1e15, 2 ** 32])('limits of %d are as good as none', async (number) => {
  const [entry] = await entries({}, ['echo a'], { timeoutMs: number, maxOutputLength: number });
  expect(entry).toMatchObject({ stdout: 'a\n', outcome: { type: 'exit', exitCode: 0 } });
});

it('a failed command has its reason, each time', async () => {
  const cases = await entries({ cwd: '/none' }, ['true', 'true']);
  expect(cases).toEqual(
    Array(2).fill({
      stdout: '',
      stderr: 'Working directory does not exist: /none',
      outcome: { type: 'exit', exitCode: 126 },
    }),
  );
  const thrown = () => {
    throw new Error('nobody');
  };
  expect(await entries({ perCall: thrown }, ['true', 'true'])).toMatchObject([
    { stderr: 'nobody' },
    { stderr: 'nobody' },
  ]);
  expect(await entries({ onBeforeRun: thrown }, ['true'])).toMatchObject([
    { stderr: 'nobody', outcome: { exitCode: 126 } },
  ]);
  expect(await entries({}, ['ec\0ho'])).toMatchObject([
    { stderr: expect.stringContaining('NUL'), outcome: { exitCode: 126 } },
  ]);
});

it('signals and notes are said behind stderr', async () => {
  expect(await entries({}, ['printf err >&2; kill -9 $$'])).toEqual([
    { stdout: '', stderr: 'err\n[command killed: SIGKILL]\n', outcome: { type: 'exit', exitCode: 137 } },
  ]);
  const [warned] = await entries({ onAfterRun: () => Promise.reject(new Error('no')) }, ['true']);
  expect(warned?.stderr).toBe('[onAfterRun failed: no]\n');
});

it('a command that moves to the background is a timeout with its pid and its log', async () => {
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  const [moved, next] = await entries({ registry, timeoutMs: 2_000 }, ['echo a; sleep 60', 'echo b']);
  expect(moved).toMatchObject({ stdout: 'a\n', outcome: { type: 'timeout' } });
  const [, pid, log = '', group] =
    /^\[command goes on in the background after 2s: pid (\d+)\. Full output: (.*)\. To stop: kill -9 -(.+)\]\n$/.exec(
      moved?.stderr ?? '',
    ) ?? [];
  const [task] = registry.list();
  expect(task).toMatchObject({ pid: Number(pid), state: 'running', logPath: log });
  // Confined commands see processes under other numbers.
  expect(group).toBe(confined ? 'PGID, with the PGID that ps -eo pgid,args shows' : String(task?.pgid));
  expect(await readFile(log, 'utf8')).toBe('a\n');
  expect(next).toMatchObject({ stdout: 'b\n' });
  const [started] = await entries({ registry, mode: 'background' }, ['sleep 60']);
  expect(started).toMatchObject({
    stderr: expect.stringMatching(/^\[command goes on in the background: pid \d+/),
    outcome: { type: 'timeout' },
  });
});

it('in a session each command of an action has what those before have left', async () => {
  await using session = new BashSession({ cwd: '/usr' });
  expect(await entries({ session }, ['cd bin; x=1', 'echo "$x $PWD"'])).toMatchObject([{}, { stdout: '1 /usr/bin\n' }]);
});

describe('maxOutputLength', () => {
  /** The kept part of a stream, without the notice. */
  const kept = (text = '') => text.replace(/\n?\[std\w+: [^\n]*\]$/, '');

  it('is both streams together: the shorter one is kept', async () => {
    const [entry] = await entries({}, ['seq 1000; echo short >&2'], { maxOutputLength: 100 });
    expect(entry?.stderr).toBe('short\n');
    expect(kept(entry?.stdout).length).toBeLessThanOrEqual(94);
    expect(entry?.stdout).toMatch(/\n1000\n\[stdout: Showing last 94 characters\. Full output: \/.*\]$/);
  });

  it('of two long ones each has half', async () => {
    const [entry] = await entries({}, ['seq 1000 | tee /dev/stderr'], { maxOutputLength: 100 });
    for (const text of [entry?.stdout, entry?.stderr]) expect(kept(text)).toMatch(/^[\d\n]{49,50}$/);
  });

  it('keeps the beginning where the tool does, and both ends where it does', async () => {
    const [head] = await entries({ truncate: TRUNCATE.head }, ['seq 1000 | tee /dev/stderr'], { maxOutputLength: 20 });
    expect(head?.stdout).toMatch(/^1\n2\n3\n4\n5\n/);
    const [ends] = await entries({ truncate: TRUNCATE.ends }, ['seq 1000'], { maxOutputLength: 100 });
    expect(ends?.stdout).toMatch(/^\[output truncated in middle: .*\n1\n2\n.*\n1000\n/s);
  });

  it('does not widen what the tool keeps, and cuts nothing that fits', async () => {
    const [entry] = await entries({ truncate: { keep: 'tail', maxLines: 2 } }, ['seq 9'], { maxOutputLength: 5_000 });
    expect(entry?.stdout).toMatch(/^8\n9\n\[stdout: Showing last 2 of 9 lines\]$/);
    expect(await entries({}, ['echo 123456789'], { maxOutputLength: 10 })).toMatchObject([{ stdout: '123456789\n' }]);
    expect(await entries({}, ['echo 1'], { maxOutputLength: 0 })).toMatchObject([{ stdout: '1\n' }]);
  });

  it.each([TRUNCATE.tail, TRUNCATE.head])('cuts no character in two: %j', async (truncate) => {
    const command = "printf '😀%.0s' {1..9}; printf '😀%.0s' {1..9} >&2";
    const [entry] = await entries({ truncate }, [command], { maxOutputLength: 10 });
    for (const text of [entry?.stdout, entry?.stderr]) expect(kept(text?.replace('\n[truncated]', ''))).toBe('😀😀');
  });
});

it('a thousand commands, each with its own entry', async () => {
  const found = await entries(
    {},
    Array.from({ length: 1_000 }, (_, index) => `exit $((${index} % 200))`),
  );
  expect(found.map(({ outcome }) => 'exitCode' in outcome && outcome.exitCode)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index % 200),
  );
});

it('a consumer that stops iterating ends the command', async () => {
  const iteration = openaiShell({ updateIntervalMs: 20 }).execute(
    { action: { commands: ['echo $$; exec sleep 60'] } },
    { toolCallId: 'call_1' },
  );
  let pid = 0;
  // On a busy machine a first snapshot may have no output yet.
  while (pid === 0) pid = Number((await iteration.next()).value?.output[0]?.stdout);
  await iteration.return();
  expect(pid).toBeGreaterThan(0);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
});
