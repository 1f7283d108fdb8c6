import { readFileSync } from 'node:fs';
import { type BashResult, BashSession } from 'agent-bash';
import { formatResult } from 'agent-bash/ai';
import { type AnthropicBashOutput, anthropicBash } from 'agent-bash/anthropic';
import { agentsShell, openaiLocalShell, openaiShell, type ShellOutput } from 'agent-bash/openai';
import { describe, expect, onTestFinished, test } from 'vitest';

const REPEATS = 'for n in {1..300}; do echo waiting; done';
const BUILD = 'for n in {1..1000}; do echo "compiled module $n of the application in $((n * n * 31 % 997)) ms"; done';
// Without recall nothing is left out of the output of a confined command.
const SALIENT = { reduce: { level: 'salient', budgetTokens: 100 }, confine: 'off' } as const;
const CLOSING = /^\[1,000 lines whole in (\/.+)\]$/m;

type Options = Parameters<typeof anthropicBash>[0];

/** The last output of a call. */
async function last<T>(outputs: AsyncIterable<T>): Promise<T> {
  let final: T | undefined;
  for await (const output of outputs) final = output;
  return final as T;
}

async function claude(options: Options, command: string) {
  const tool = anthropicBash(options);
  const output: AnthropicBashOutput = await last(tool.execute({ command }, { toolCallId: 'toolu_1' }));
  return { output: output as BashResult, text: tool.toModelOutput({ output }).value };
}

async function gpt(options: Options, command: string, more = {}) {
  const outputs = openaiShell(options).execute({ action: { commands: [command], ...more } }, { toolCallId: 'call_1' });
  return ((await last(outputs)) as ShellOutput).output[0] as ShellOutput['output'][number];
}

describe('Anthropic', () => {
  test('reads the output as it is, unless the host asks for less', async () => {
    const { output, text } = await claude({}, REPEATS);
    expect(output.view).toBeNull();
    expect(text).toBe(formatResult(output));
    expect(text).toContain('stdout:\nwaiting\nwaiting\n');
  });

  test('reads folds with lossless', async () => {
    expect((await claude({ reduce: 'lossless' }, REPEATS)).text).toBe('waiting\n[x300]');
  });

  test('reads a success as its text alone, also of a stored copy of the result', async () => {
    for (const level of ['lossless', 'salient'] as const) {
      const tool = anthropicBash({ reduce: level });
      const output = await last(tool.execute({ command: 'echo hi' }, { toolCallId: 'toolu_1' }));
      expect(tool.toModelOutput({ output }).value).toBe('hi');
      expect(tool.toModelOutput({ output: JSON.parse(JSON.stringify(output)) }).value).toBe('hi');
    }
    const { text } = await claude({ reduce: 'lossless', perCall: () => ({ reduce: 'off' }) }, 'echo hi');
    expect(text).toBe('stdout:\nhi\n\nexit code: 0');
  });

  test('reads with salient where the whole is, because its input has no recall', async () => {
    const { output, text } = await claude(SALIENT, BUILD);
    expect(output.view).toMatchObject({ id: 0, path: expect.stringMatching(/^\//) });
    expect(text).not.toContain('recall');
    const [, path = ''] = CLOSING.exec(text) ?? [];
    expect(path).toBe(output.view?.path);
    expect(readFileSync(path, 'utf8')).toBe(output.stdout);
  });

  test('the level of perCall and of a session count, too', async () => {
    expect((await claude({ perCall: () => ({ reduce: 'lossless' }) }, REPEATS)).text).toBe('waiting\n[x300]');
    const session = new BashSession({ reduce: 'lossless' });
    onTestFinished(() => session.close());
    expect((await claude({ session }, REPEATS)).text).toBe('waiting\n[x300]');
    expect((await claude({ session, reduce: 'off' }, REPEATS)).text).toContain('waiting\nwaiting\n');
  });
});

describe('OpenAI', () => {
  test('entries have the output as it is, unless the host asks for less', async () => {
    expect(await gpt({}, REPEATS)).toMatchObject({ stdout: 'waiting\n'.repeat(300), stderr: '' });
  });

  test('entries have the view of a stream in its place', async () => {
    const outcome = { type: 'exit', exitCode: 0 };
    expect(await gpt({ reduce: 'lossless' }, REPEATS)).toEqual({ stdout: 'waiting\n[x300]\n', stderr: '', outcome });
    expect(await gpt({ reduce: 'lossless' }, `(${REPEATS}) >&2`)).toEqual({
      stdout: '',
      stderr: 'waiting\n[x300]\n',
      outcome,
    });
  });

  test('the view of both streams has their names, with the facts of the tool apart', async () => {
    const { stdout, stderr } = await gpt(
      { reduce: 'lossless', timeoutMs: 1_500 },
      `${REPEATS}; echo late >&2; sleep 60`,
    );
    expect(stdout).toBe('stdout:\nwaiting\n[x300]\n\nstderr:\nlate\n');
    expect(stderr).toMatch(/^\[command timed out after 1\.5s\]\n/);
  });

  test('an entry with salient says where the whole is', async () => {
    const { stdout } = await gpt(SALIENT, BUILD);
    const [, path = ''] = CLOSING.exec(stdout) ?? [];
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(1_001);
  });

  test('a view that exceeds the length of the action gives way to a cut', async () => {
    expect((await gpt(SALIENT, BUILD, { maxOutputLength: 8_000 })).stdout).toMatch(CLOSING);
    const { stdout } = await gpt(SALIENT, BUILD, { maxOutputLength: 60 });
    expect(stdout).toMatch(/module 1000 of the application in \d+ ms\n\[stdout: Showing last /);
  });

  test('the local shell and a shell for agents do the same', async () => {
    const action = { type: 'exec' as const, command: ['bash', '-c', REPEATS], env: {} };
    const local = (reduce: 'off' | 'lossless') =>
      last(openaiLocalShell({ reduce }).execute({ action }, { toolCallId: 'call_1' }));
    expect((await local('lossless')).output).toBe('waiting\n[x300]');
    const hi = { type: 'exec' as const, command: ['echo', 'hi'], env: {} };
    const plain = await last(
      openaiLocalShell({ reduce: 'lossless' }).execute({ action: hi }, { toolCallId: 'call_1' }),
    );
    expect(plain.output).toBe('hi');
    expect((await local('off')).output).toContain('stdout:\nwaiting\nwaiting\n');
    const [entry] = (await agentsShell({ reduce: 'lossless' }).run({ commands: [REPEATS] })).output;
    expect(entry?.stdout).toBe('waiting\n[x300]\n');
  });
});
