import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeApproval, claudeShell, claudeSpawn, type Question } from 'agent-bash/claude-agent-sdk';
import { describe, expect, it } from 'vitest';
import { alive, finished, folder } from '../support/index.ts';
import { gone, pidIn, refuses, WITH_CHILD } from './support.ts';

interface Answered {
  content: [{ text: string }];
  isError: boolean;
  _meta: { 'agent-bash/result': Record<string, unknown> };
}
type Handler = (input: object, extra: object) => Promise<Answered>;
type Asked = { behavior: string; message?: string; updatedInput?: object };

/** `createSdkMcpServer`, as far as the adapter uses it. */
function createSdkMcpServer({ name }: { name: string }) {
  const tools: Record<string, { config: object; handler: Handler }> = {};
  const registerTool = (tool: string, config: object, handler: Handler) => {
    tools[tool] = { config, handler };
  };
  const server = { getClientCapabilities: () => undefined, listRoots: async () => ({ roots: [] }) };
  return { type: 'sdk' as const, name, instance: { registerTool: registerTool as never, server, tools } };
}

function shellOf(options?: Parameters<typeof claudeShell>[1]) {
  const shell = claudeShell(createSdkMcpServer, { cwd: folder(), ...options });
  finished(() => shell.close());
  const { tools } = shell.server.instance;
  const signal = new AbortController().signal;
  const call = (input: object, id = 'toolu_1', extra: object = {}) =>
    tools.bash?.handler(input, {
      requestId: 1,
      signal,
      _meta: { 'claudecode/toolUseId': id },
      ...extra,
    }) as Promise<Answered>;
  const ask = (input: object, id = 'toolu_1', name = 'mcp__agent_bash__bash', more: object = {}): Promise<Asked> =>
    (shell.options.canUseTool as never as (...given: unknown[]) => Promise<Asked>)(name, input, {
      signal,
      toolUseID: id,
      ...more,
    });
  return { ...shell, tools, call, ask };
}

describe('the shell', () => {
  it('replaces Bash, or leaves its description', () => {
    const { options, tools } = shellOf();
    expect(options).toMatchObject({ toolAliases: { Bash: 'mcp__agent_bash__bash' }, disallowedTools: ['Bash'] });
    expect(shellOf({ builtin: 'alias' }).options).not.toHaveProperty('disallowedTools');
    expect(Object.keys(tools)).toEqual(['bash', 'bash_tasks']);
    expect(tools.bash?.config).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } });
  });

  it('answers with the text alone, and has the result beside it', async () => {
    const answer = await shellOf().call({ command: 'echo out; exit 3', description: 'fails', timeout: 5_000 });
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: '[command failed: exit code 3]\n\nout' }],
      isError: false,
      _meta: { 'agent-bash/result': { exitCode: 3, timeoutMs: 5_000, notes: [] } },
    });
    expect(answer).not.toHaveProperty('structuredContent');
    expect(await shellOf().call({ command: 'rm -rf /' })).toMatchObject({ isError: true });
  });

  it('ends the whole tree when its call is cancelled', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const answer = shellOf({ cwd }).call({ command: WITH_CHILD }, '', { signal: abort.signal });
    const child = await pidIn(cwd);
    abort.abort();
    expect((await answer)._meta['agent-bash/result']).toMatchObject({ status: 'aborted' });
    expect(alive(child)).toBe(false);
  });

  it('asks once about a call, before it or at it', async () => {
    const asked: string[] = [];
    const onAsk = ({ toolCallId }: Question) => asked.push(toolCallId) > 0;
    const { ask, call } = shellOf({ approval: { ask: ['touch:*'], onAsk } });
    const input = { command: 'touch a' };
    expect(await ask(input, 'one')).toEqual({ behavior: 'allow', updatedInput: input });
    await call(input, 'one');
    expect(asked).toEqual(['one']);
    await call(input, 'two');
    expect(asked).toEqual(['one', 'two']);
  });

  it('decides about its own tools alone', async () => {
    const { ask } = shellOf();
    expect(await ask({}, '', 'Read')).toMatchObject({ behavior: 'deny' });
    expect(
      await ask({ command: 'true' }, '', undefined, { mcpServer: { name: 'agent_bash', source: 'project' } }),
    ).toMatchObject({ behavior: 'deny' });
    expect(
      await ask({ command: 'true' }, '', undefined, { mcpServer: { name: 'agent_bash', source: 'sdk' } }),
    ).toMatchObject({ behavior: 'allow' });
  });
});

describe('the process', () => {
  const launched = (script: string, env: Record<string, string | undefined> = {}) => {
    const cwd = folder();
    const claude = claudeSpawn()({
      command: '/bin/bash',
      args: ['-c', script],
      cwd,
      env,
      signal: new AbortController().signal,
    });
    finished(() => void claude.kill('SIGKILL'));
    const ended = new Promise((resolve) => claude.once('exit', (...end: unknown[]) => resolve(end)));
    return { claude, cwd, ended };
  };

  it('has its input, its output and exactly its environment', async () => {
    const { claude, ended } = launched('/usr/bin/env; cat; exit 7', { A: 'é', EDITOR: undefined });
    claude.stdin.end('from stdin\n');
    let text = '';
    for await (const chunk of claude.stdout) text += chunk;
    const lines = text.split('\n').filter((line) => !/^(PWD|SHLVL|_|AGENT_BASH_ID|TMPDIR)=/.test(line));
    expect(lines).toEqual(['A=é', 'from stdin', '']);
    expect(await ended).toEqual([7, null]);
    expect(claude.exitCode).toBe(7);
  });

  it('SIGKILL ends the whole tree', async () => {
    const { claude, cwd, ended } = launched(`trap '' TERM; ${WITH_CHILD}`, { PATH: process.env.PATH });
    const child = await pidIn(cwd);
    expect(claude.kill('SIGKILL')).toBe(true);
    expect(await ended).toEqual([null, 'SIGKILL']);
    await gone(child);
  });

  it('is ended by a signal after its input has ended', async () => {
    const deaf = launched(`trap '' TERM; ${WITH_CHILD}`, { PATH: process.env.PATH });
    const child = await pidIn(deaf.cwd);
    deaf.claude.stdin.end();
    await new Promise((resolve) => deaf.claude.stdin.once('close', resolve));
    expect(deaf.claude.kill('SIGKILL')).toBe(true);
    expect(await deaf.ended).toEqual([null, 'SIGKILL']);
    await gone(child);
  });

  it('what it left running does not outlive it', async () => {
    const child = 'echo $$ >> pids; exec sleep 1000';
    const left = [`bash -c '${child}' &`, `setsid bash -c '${child}' &`, `(setsid bash -c '${child}' &) &`].join('\n');
    const script = `{ ${left}\n} > /dev/null 2>&1; until [ "$(wc -l < pids)" = 3 ]; do sleep 0.01; done; exit 7`;
    const { claude, cwd, ended } = launched(script, { PATH: process.env.PATH });
    expect(await ended).toEqual([7, null]);
    const pids = readFileSync(join(cwd, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids.map(alive)).toEqual([false, false, false]);
    expect(claude.kill()).toBe(false);
  });

  it('what cannot start is an error event', async () => {
    const signal = new AbortController().signal;
    const claude = claudeSpawn()({ command: '/missing/claude', args: [], env: {}, signal });
    const error = await new Promise((resolve) => claude.once('error', resolve));
    expect(error).toMatchObject({ code: 'ENOENT', message: expect.stringContaining('/missing/claude') });
  });
});

it('an argument without a needed member, and a wrong option, are refused at once', () => {
  refuses(() => claudeShell(undefined as never), 'ERR_BASH_UNSUPPORTED', /@anthropic-ai\/claude-agent-sdk, version/);
  refuses(() => claudeShell((() => ({})) as never), 'ERR_BASH_UNSUPPORTED', 'instance.registerTool');
  refuses(() => shellOf({ builtins: 'alias' } as never), 'ERR_BASH_INVALID_ARG', 'builtin');
  refuses(() => shellOf({ builtin: 'both' as never }), 'ERR_BASH_INVALID_ARG', '"replace" or "alias"');
  refuses(() => claudeApproval({ denied: [] } as never), 'ERR_BASH_INVALID_ARG', 'deny');
  refuses(() => claudeSpawn({ env: {} }), 'ERR_BASH_UNSUPPORTED', 'env');
  refuses(() => claudeSpawn({ onTimeout: 'background' }), 'ERR_BASH_UNSUPPORTED', 'onTimeout');
  refuses(() => claudeSpawn({ onEnd: () => {} } as never), 'ERR_BASH_INVALID_ARG', 'onEnd');
});
