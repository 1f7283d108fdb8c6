import type { CommandRunner, RunParams } from 'agent-bash/sandbox';
import { generateText, stepCountIs, tool } from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { inPlaces } from './places.ts';
import { temporaryFolder, textOf } from './support.ts';

// An agent as people wrote them for a remote sandbox: its tools find the sandbox in `experimental_context` and know
// nothing of where it is. Nothing in this part may change when a local sandbox takes the remote one's place.

interface Context {
  sandbox: CommandRunner & {
    readFile(file: { path: string }): Promise<AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null>;
    writeFiles(files: { path: string; content: Uint8Array }[]): Promise<void>;
  };
}

const tools = {
  bash: tool({
    description: 'Run a bash command in the sandbox.',
    inputSchema: z.object({ command: z.string() }),
    async execute({ command }, { experimental_context, abortSignal }) {
      const { sandbox } = experimental_context as Context;
      const run = abortSignal
        ? await sandbox.runCommand({ cmd: 'bash', args: ['-c', command], signal: abortSignal })
        : await sandbox.runCommand('bash', ['-c', command]);
      return { stdout: await run.stdout(), stderr: await run.stderr(), exitCode: run.exitCode };
    },
  }),
  write_file: tool({
    description: 'Write a file.',
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    async execute({ path, content }, { experimental_context }) {
      const { sandbox } = experimental_context as Context;
      await sandbox.writeFiles([{ path, content: Buffer.from(content) }]);
      return { success: true };
    },
  }),
  read_file: tool({
    description: 'Read a file.',
    inputSchema: z.object({ path: z.string() }),
    async execute({ path }, { experimental_context }) {
      const { sandbox } = experimental_context as Context;
      const stream = await sandbox.readFile({ path });
      if (stream === null) return { error: `no such file: ${path}` };
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk);
      return { content: Buffer.concat(chunks).toString() };
    },
  }),
};

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function modelThatCalls(...calls: [toolName: keyof typeof tools, input: object][]) {
  return new MockLanguageModelV3({
    doGenerate: [
      ...calls.map(([toolName, input], index) => ({
        content: [{ type: 'tool-call' as const, toolCallId: `call-${index}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls' as const, raw: undefined },
        usage,
        warnings: [],
      })),
      {
        content: [{ type: 'text' as const, text: 'Done.' }],
        finishReason: { unified: 'stop' as const, raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}

async function runAgent(sandbox: Context['sandbox'], model: MockLanguageModelV3, abortSignal?: AbortSignal) {
  const result = await generateText({
    model,
    tools,
    stopWhen: stepCountIs(10),
    prompt: 'Do it.',
    experimental_context: { sandbox } satisfies Context,
    ...(abortSignal && { abortSignal }),
  });
  return { text: result.text, outputs: result.steps.flatMap((step) => step.toolResults.map((each) => each.output)) };
}

inPlaces((place) => {
  test('an agent made for a remote sandbox runs on the local one', async () => {
    const folder = await temporaryFolder();
    const sandbox = place.sandbox({ cwd: folder });
    const model = modelThatCalls(
      ['write_file', { path: 'src/greet.sh', content: 'echo "hello $1"\necho warning >&2\nexit 3\n' }],
      ['bash', { command: 'cd src && bash greet.sh world' }],
      ['bash', { command: 'no-such-program' }],
      ['bash', { command: 'echo result >out.txt; pwd' }],
      ['read_file', { path: 'out.txt' }],
      ['read_file', { path: 'missing.txt' }],
    );
    const { text, outputs } = await runAgent(sandbox as Context['sandbox'], model);
    expect(outputs).toEqual([
      { success: true },
      { stdout: 'hello world\n', stderr: 'warning\n', exitCode: 3 },
      { stdout: '', stderr: expect.stringContaining('no-such-program'), exitCode: 127 },
      { stdout: `${folder}\n`, stderr: '', exitCode: 0 },
      { content: 'result\n' },
      { error: 'no such file: missing.txt' },
    ]);
    expect(text).toBe('Done.');
    await sandbox.stop();
    expect(await textOf(await sandbox.readFile({ path: 'out.txt' }))).toBe('result\n');
  });

  test('the same agent, the same answers, whichever sandbox it is given', async () => {
    const calls: [keyof typeof tools, object][] = [
      ['bash', { command: 'echo out; echo err >&2; exit 5' }],
      ['read_file', { path: 'nothing-here' }],
    ];
    // The answers of a remote sandbox to the two calls.
    const remote: Context['sandbox'] = {
      runCommand: async () => ({
        exitCode: 5,
        stdout: async () => 'out\n',
        stderr: async () => 'err\n',
        output: async () => 'out\nerr\n',
      }),
      readFile: async () => null,
      writeFiles: async () => {},
    };
    const local = place.sandbox({ cwd: await temporaryFolder() });
    const there = await runAgent(remote, modelThatCalls(...calls));
    const here = await runAgent(local as Context['sandbox'], modelThatCalls(...calls));
    expect(here).toEqual(there);
  });

  test('the abort signal of the call ends the command', async () => {
    const controller = new AbortController();
    let exitCode: number | undefined;
    const local = place.sandbox({ onOutput: () => controller.abort() });
    const sandbox = {
      ...local,
      async runCommand(params: RunParams) {
        const run = await local.runCommand(params);
        exitCode = run.exitCode;
        return run;
      },
    } as unknown as Context['sandbox'];
    const model = modelThatCalls(['bash', { command: 'echo started; sleep 1000' }]);
    await runAgent(sandbox, model, controller.signal).catch(() => {});
    expect(exitCode).toBe(130);
  });
});
