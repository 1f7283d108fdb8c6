import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { getConfig } from '@langchain/langgraph';
import { deepAgentsBackend, langchainBash } from 'agent-bash/langchain';
import { createDeepAgent, LocalShellBackend } from 'deepagents';
import { createAgent } from 'langchain';
import { describe, expect, it } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, finished, folder } from '../../support/index.ts';
import { Caller } from './langchain-model.ts';
import { printedByPage } from './support.ts';

interface Said {
  message: ToolMessage;
  content: string;
}

function said({ messages }: { messages: BaseMessage[] }): Said {
  const message = messages.find((each): each is ToolMessage => each instanceof ToolMessage);
  if (message === undefined) throw new Error('no tool was called');
  return { message, content: String(message.content) };
}

const asked = { messages: [new HumanMessage('do it')] };

/** Runs a command in an agent of LangChain. */
async function inAgent(command: string, options?: Parameters<typeof langchainBash>[1], signal?: AbortSignal) {
  const agent = createAgent({ model: new Caller(command), tools: [langchainBash(tool, options)] });
  return said(await agent.invoke(asked, { signal }));
}

/** Runs a command in a deep agent. */
async function inDeepAgent(command: string, options: Parameters<typeof deepAgentsBackend>[1], signal?: AbortSignal) {
  const backend = deepAgentsBackend(LocalShellBackend, { signal: () => getConfig()?.signal, ...options });
  finished(() => backend.close());
  const agent = createDeepAgent({ model: new Caller(command), backend });
  return said((await agent.invoke(asked, { signal })) as { messages: BaseMessage[] });
}

describe('LangChain', () => {
  it('reads the text, and programs read the artifact', async () => {
    const { content, message } = await inAgent('echo out; exit 3');
    expect(content).toContain('[command failed: exit code 3]');
    expect(message.artifact).toMatchObject({ exitCode: 3, stdout: 'out\n' });
    expect(message.tool_call_id).toBe('call-1');
  });

  it('an abort of the agent ends the whole tree', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const running = inAgent(WITH_CHILD, { cwd }, abort.signal);
    const child = await pidIn(cwd);
    abort.abort();
    await expect(running).rejects.toThrow();
    await gone(child);
  });

  it('a refused command is an error of the call', async () => {
    const { message, content } = await inAgent('git push', { approval: { deny: ['git push:*'] } }).catch((error) => ({
      message: { status: 'error' },
      content: String(error),
    }));
    expect(message.status).toBe('error');
    expect(content).toContain('git push:*');
  });

  it('a person is asked with the id of the call', async () => {
    const ids: string[] = [];
    const onAsk = ({ toolCallId }: { toolCallId: string }) => ids.push(toolCallId) > 0;
    const { message } = await inAgent('true', { approval: { ask: ['true'], onAsk } });
    expect(ids).toEqual(['call-1']);
    expect(message.artifact).toMatchObject({ exitCode: 0 });
  });

  it('says what the confinement denied', async () => {
    const { content } = await inAgent('touch /etc/agent-bash-test', { cwd: folder(), confine: 'workspace' });
    expect(content).toContain('[confined: write /etc/agent-bash-test denied (touch)]');
  });

  it('a large output is cut to its end', async () => {
    const { content, message } = await inAgent('seq 200000');
    expect(content).toContain('\n200000');
    expect(content.length).toBeLessThan(60_000);
    expect(message.artifact.truncation.stdout.path).toMatch(/^\//);
  });
});

describe('deepagents', () => {
  it('a child holds the output: it returns with the shell', async () => {
    const cwd = folder();
    const { content } = await inDeepAgent(HELD_PIPE, { cwd });
    expect(content).toMatch(/^first\nlast\n/);
    expect(alive(await pidIn(cwd))).toBe(true);
  });

  it('the limit is reached: the whole tree is ended, and its output is there', async () => {
    const cwd = folder();
    const { content } = await inDeepAgent(WITH_CHILD, { cwd, timeoutMs: 1_000 });
    expect(content).toContain('started\n\n[command timed out after 1s]');
    await gone(await pidIn(cwd));
  });

  it('the run is aborted: the whole tree is ended', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const running = inDeepAgent(WITH_CHILD, { cwd }, abort.signal);
    const child = await pidIn(cwd);
    abort.abort();
    await expect(running).rejects.toThrow();
    await gone(child);
  });

  it('both streams: one stream, in the order of writing', async () => {
    expect((await inDeepAgent('echo a; echo b >&2; echo c', { cwd: folder() })).content).toMatch(/^a\nb\nc\n/);
  });

  it('a character between two reads: is whole', async () => {
    const script = `printf 'b\\303'; sleep 0.2; printf '\\251\\n'`;
    expect((await inDeepAgent(script, { cwd: folder() })).content).toMatch(/^bé\n/);
  });

  it('a large output: the end is kept', async () => {
    const { content } = await inDeepAgent('seq 100000', { cwd: folder() });
    expect(content).toContain('100000');
    expect(content).toMatch(/truncated/i);
  });

  it('a signal: 128 + n, by name', async () => {
    expect((await inDeepAgent('kill -TERM $$', { cwd: folder() })).content).toMatch(
      /\[command killed: SIGTERM\](.|\n)*143/,
    );
  });

  it('a refused command is exit code 126 with the reason', async () => {
    const { content } = await inDeepAgent('git push', { cwd: folder(), approval: { deny: ['git push:*'] } });
    expect(content).toContain('126');
    expect(content).toContain('git push:*');
  });

  it('secrets of the host: inherited without secrets, and the file tools are those of deepagents', async () => {
    process.env.AGENT_BASH_TEST_TOKEN = 'secret';
    finished(() => delete process.env.AGENT_BASH_TEST_TOKEN);
    const cwd = folder();
    const { content } = await inDeepAgent('echo "<$AGENT_BASH_TEST_TOKEN>"; echo text > a.txt', { cwd });
    expect(content).toMatch(/^<>\n/);
    const backend = deepAgentsBackend(LocalShellBackend, { cwd, virtualMode: true });
    expect(await backend.read('/a.txt')).toMatchObject({ content: expect.stringContaining('text') });
  });
});

it('the examples of the page run', async () => {
  const caller = await readFile(join(import.meta.dirname, 'langchain-model.ts'), 'utf8');
  const [tool, backend] = await printedByPage('langchain.md', {
    'model.js': `${caller}\nexport const model = new Caller('echo a-name');`,
  });
  expect(tool).toEqual(['a-name']);
  expect(backend).toEqual(['echo a-name → 0']);
}, 120_000);
