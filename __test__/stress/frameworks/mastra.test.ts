import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createWorkspaceTools, supportsNetworking, Workspace } from '@mastra/core/workspace';
import { mastraApproval, mastraSandbox } from 'agent-bash/mastra';
import { describe, expect, it } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, finished, folder, until } from '../../support/index.ts';
import { caller } from './mastra-model.ts';
import { printedByPage } from './support.ts';

type Options = NonNullable<Parameters<typeof mastraSandbox>[0]>;
type Tools = ConstructorParameters<typeof Workspace>[0]['tools'];

function workspaceOf(options: Options = {}, tools?: Tools) {
  const sandbox = mastraSandbox({ cwd: folder(), ...options });
  const workspace = new Workspace({ sandbox, tools });
  finished(() => workspace.destroy());
  return { workspace, sandbox };
}

/** Returns a call of the tools of a workspace, without a model. */
async function toolsOf(options?: Options, tools?: Tools) {
  const { workspace, sandbox } = workspaceOf(options, tools);
  const made = await createWorkspaceTools(workspace);
  const call = async (name: string, input: object, context: object = {}): Promise<string> => {
    const output = await made[`mastra_workspace_${name}`]?.execute?.(input, { workspace, ...context } as never);
    return String(output);
  };
  return {
    workspace,
    sandbox,
    call,
    run: (command: string, more?: object) => call('execute_command', { command, ...more }),
  };
}

/** Returns an agent whose model runs these commands. */
function agentOf(commands: string[], options?: Options, tools?: Tools) {
  const { workspace, sandbox } = workspaceOf(options, tools);
  const model = caller(...commands.map((command) => ({ command })));
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'work', model: model as never, workspace });
  new Mastra({ agents: { a: agent }, storage: new InMemoryStore(), logger: false });
  return { agent, sandbox, model };
}

function asking(approval: Parameters<typeof mastraApproval>[0]): Tools {
  return { mastra_workspace_execute_command: { requireApproval: mastraApproval(approval) } };
}

describe('an agent', () => {
  it('runs a command and reads its output', async () => {
    const { agent, model } = agentOf(['echo out; exit 3']);
    const { text } = await agent.generate('go');
    expect(JSON.parse(text)).toBe('out\n\nExit code: 3');
    expect(JSON.stringify(model.prompts[0])).toContain('Root directory: ');
  });

  it('the run is aborted', async () => {
    const cwd = folder();
    const abort = new AbortController();
    const running = agentOf([WITH_CHILD], { cwd }).agent.generate('go', { abortSignal: abort.signal });
    const child = await pidIn(cwd);
    abort.abort();
    await running.catch(() => {});
    await gone(child);
  });

  it('a command that asks waits for approveToolCall', async () => {
    const cwd = folder();
    const { agent } = agentOf(['touch made'], { cwd }, asking({ ask: ['touch:*'] }));
    const waiting = await agent.generate('go');
    expect(waiting).toMatchObject({ finishReason: 'suspended', suspendPayload: { args: { command: 'touch made' } } });
    const { runId } = waiting;
    const answer = { runId: String(runId), toolCallId: 'call-1' };
    expect((await agent.approveToolCallGenerate(answer)).text).toBe('"(no output)"');
    expect(statSync(join(cwd, 'made')).isFile()).toBe(true);
  });

  it('a declined command never starts', async () => {
    const cwd = folder();
    const { agent } = agentOf(['touch made'], { cwd }, asking({ ask: ['touch:*'] }));
    const { runId } = await agent.generate('go');
    const { text } = await agent.declineToolCallGenerate({ runId: String(runId), toolCallId: 'call-1' });
    expect(text).toContain('not approved');
    expect(statSync(join(cwd, 'made'), { throwIfNoEntry: false })).toBe(undefined);
  });

  it('a denied command asks nobody, and the model reads why', async () => {
    const byRule = agentOf(['git push'], {}, asking({ deny: ['git push:*'] }));
    expect((await byRule.agent.generate('go')).text).toContain('the rule «git push:*» does not allow it');
    const bySafety = agentOf(['rm -rf /'], {}, asking({}));
    expect((await bySafety.agent.generate('go')).text).toContain('permission denied');
  });
});

describe('what the sandbox of Mastra lacks', () => {
  it('a child holds the output', async () => {
    const cwd = folder();
    const { run } = await toolsOf({ cwd });
    expect(await run(HELD_PIPE)).toBe('first\nlast\n');
    expect(alive(await pidIn(cwd))).toBe(true);
  });

  it('the limit is reached', async () => {
    const cwd = folder();
    const { run } = await toolsOf({ cwd });
    const said = await run(`${HELD_PIPE}; sleep 1000`, { timeout: 1 });
    expect(said).toContain('first\nlast\n');
    expect(said).toContain('[command timed out after 1s]');
    expect(said).toMatch(/Exit code: 124$/);
    await gone(await pidIn(cwd));
  });

  it('a process is killed', async () => {
    const cwd = folder();
    const { run, call } = await toolsOf({ cwd });
    const pid = /PID: (\d+)/.exec(await run(`${HELD_PIPE}; sleep 1000`, { background: true }))?.[1] ?? '';
    await until(async () => (await call('get_process_output', { pid })).includes('last'), 'the output');
    const child = await pidIn(cwd);
    expect(await call('kill_process', { pid })).toContain(`Process ${pid} has been killed.`);
    expect(alive(child)).toBe(false);
    expect(await call('kill_process', { pid })).toContain('not found or had already exited');
  });

  it('a process is killed that has exited and left a child', async () => {
    const cwd = folder();
    const { run, call } = await toolsOf({ cwd });
    const pid = /PID: (\d+)/.exec(await run(HELD_PIPE, { background: true }))?.[1] ?? '';
    const child = await pidIn(cwd);
    await until(async () => (await call('get_process_output', { pid })).includes('Exit code: 0'), 'the exit');
    expect(alive(child)).toBe(true);
    expect(await call('kill_process', { pid })).toContain('not found or had already exited');
    expect(alive(child)).toBe(false);
  });

  it('the sandbox is destroyed', async () => {
    const cwd = folder();
    const { run, workspace } = await toolsOf({ cwd });
    await run(HELD_PIPE);
    const left = await pidIn(cwd);
    const running = run('echo running > now; sleep 1000');
    await until(() => statSync(join(cwd, 'now'), { throwIfNoEntry: false }), 'the command');
    await workspace.destroy();
    expect(alive(left)).toBe(false);
    expect(await running).toContain('Exit code: 130');
    expect(await run('true')).toContain('Sandbox is not ready');
  });

  it('a signal', async () => {
    const said = await (await toolsOf()).run('kill -9 $$');
    expect(said).toContain('[command killed: SIGKILL]');
    expect(said).toMatch(/Exit code: 137$/);
  });

  it('a character between two writes to stdin', async () => {
    const { sandbox } = workspaceOf();
    const cat = await sandbox.processes?.spawn('cat');
    cat?.writer.write(Buffer.from([0xc3]));
    cat?.writer.end(Buffer.from([0xa9]));
    expect((await cat?.wait())?.stdout).toBe('é');
  });

  it('a server listens', async () => {
    const port = 20_000 + (process.pid % 10_000);
    const { sandbox } = workspaceOf({ confine: 'workspace', ports: [port] });
    if (!supportsNetworking(sandbox)) throw new Error('no networking');
    expect(await sandbox.networking.getPortUrl(port)).toBe(null);
    const server = `require('http').createServer((_, r) => r.end('hi')).listen(${port}, () => console.log('up'))`;
    const handle = await sandbox.processes?.spawn(`'${process.execPath}' -e "${server}"`);
    await until(() => handle?.stdout.includes('up'), 'the server');
    const url = await sandbox.networking.getPortUrl(port);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await (await fetch(String(url))).text()).toBe('hi');
    expect(await sandbox.networking.getPortUrl(port + 1)).toBe(null);
    await sandbox.stop?.();
    expect(await sandbox.networking.getPortUrl(port)).toBe(null);
  });

  it('a bundle is written', async () => {
    const cwd = folder();
    const { sandbox } = workspaceOf({ cwd, confine: 'workspace' });
    await sandbox.writeFiles?.([{ path: 'dist/run', content: '#!/bin/sh\necho ran\n', mode: 0o700 }]);
    expect(statSync(join(cwd, 'dist/run')).mode & 0o777).toBe(0o700);
    expect((await sandbox.executeCommand?.('dist/run'))?.stdout).toBe('ran\n');
    // What confined commands cannot write, this cannot write either.
    await expect(sandbox.writeFiles?.([{ path: '/etc/agent-bash-test', content: '' }])).rejects.toThrow();
  });

  it('a command asks for the network or other files', async () => {
    const { run } = await toolsOf({ confine: 'workspace' });
    expect(await run('touch /etc/agent-bash-test')).toContain('[confined: write /etc/agent-bash-test denied (touch)]');
  });
});

it('a large output is bounded, and callbacks hear all', async () => {
  const { sandbox } = workspaceOf();
  let heard = 0;
  const onStdout = (data: string) => {
    heard += data.length;
  };
  const command = 'head -c 20000000 /dev/zero | tr "\\0" x';
  const result = await sandbox.executeCommand?.(command, [], { onStdout });
  expect(heard).toBe(20_000_000);
  expect(result).toMatchObject({ stdoutTruncated: true, stdoutDroppedBytes: 20_000_000 - 16 * 1024 * 1024 });
  const handle = await sandbox.processes?.spawn(command);
  expect((await handle?.wait())?.stdout.length).toBe(1024 * 1024);
});

it('a workspace stops and starts again, and keeps its files', async () => {
  const cwd = folder();
  const { run, workspace, sandbox } = await toolsOf({ cwd });
  await run('echo kept > file', { background: true });
  await until(() => statSync(join(cwd, 'file'), { throwIfNoEntry: false })?.size, 'the file');
  await workspace.stop();
  expect(sandbox.status).toBe('stopped');
  expect(await sandbox.processes?.list()).toEqual([]);
  expect(await run('cat file')).toBe('kept\n');
  expect((await workspace.getInfo()).sandbox).toMatchObject({ provider: 'agent-bash', status: 'running' });
  await sandbox.snapshot();
  expect(sandbox.supportsCheckpoints).toBe(false);
});

it('the end of a background process is heard, with its output', async () => {
  const ends: object[] = [];
  const onExit = (end: object) => void ends.push(end);
  const { run } = await toolsOf({}, { mastra_workspace_execute_command: { backgroundProcesses: { onExit } } });
  await run('echo out; exit 4', { background: true });
  await until(() => ends.length > 0, 'the end');
  expect(ends).toMatchObject([{ exitCode: 4, stdout: 'out\n' }]);
});

it('a person of the host is asked by onAsk of the sandbox', async () => {
  const asked: string[] = [];
  const onAsk = ({ command }: { command: string }) => asked.push(command) < 2;
  const { run } = await toolsOf({ approval: { ask: ['touch:*'], onAsk } });
  expect(await run('touch a')).toBe('(no output)');
  expect(await run('touch b')).toMatch(/^Error: /);
  expect(asked).toEqual(['touch a', 'touch b']);
});

it('the example of the page runs', async () => {
  const text = await readFile(join(import.meta.dirname, 'mastra-model.ts'), 'utf8');
  const model = `${text}\nexport const model = caller({ command: 'echo hello' });\n`;
  expect(await printedByPage('mastra.md', { 'model.js': model })).toEqual([['echo hello → 0', '"hello\\n"']]);
});
