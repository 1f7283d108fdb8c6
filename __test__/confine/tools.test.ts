import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, type bash, type Confinement } from 'agent-bash';
import { createBashTool, createTerminalTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { registerBashTools } from 'agent-bash/mcp';
import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, onTestFinished } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { linuxTest, until } from '../support/index.ts';

/** A workspace, beside a directory that is none of it. */
function place() {
  // Not in /tmp, which confined commands have for themselves.
  const base = mkdtempSync(join(homedir(), 'agent-bash-test-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [cwd, other] = [join(base, 'root'), join(base, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  return { cwd, other, tries: `echo in > in; echo out > ${other}/out` };
}

async function last<T>(outputs: AsyncIterable<T>): Promise<T> {
  let output: T | undefined;
  for await (const one of outputs) output = one;
  return output as T;
}

const call = { toolCallId: 'call-1' };

describe('what each way to run commands leaves behind: a file in the workspace, and none outside', () => {
  const ways: Record<string, (cwd: string, command: string) => Promise<unknown>> = {
    'a session': async (cwd, command) => {
      await using session = new BashSession({ cwd, confine: 'workspace' });
      return (await session.run(command)).confinement;
    },
    'a session that is confined for one command': async (cwd, command) => {
      await using session = new BashSession({ cwd });
      return (await session.run(command, { confine: 'workspace' })).confinement;
    },
    'a task of a confined registry': async (cwd, command) => {
      await using registry = new BackgroundRegistry({ confine: 'workspace' });
      const { id } = await registry.start(command, { cwd });
      await registry.wait(id);
      return null;
    },
    'a confined task of a registry': async (cwd, command) => {
      await using registry = new BackgroundRegistry();
      const { id } = await registry.start(command, { cwd, confine: 'workspace' });
      await registry.wait(id);
      return null;
    },
    'the bash tool': async (cwd, command) => {
      const { output } = await callTool({ cwd, confine: 'workspace' }, command);
      return (output as { confinement: Confinement }).confinement;
    },
    'the bash tool with a session': async (cwd, command) => {
      await using session = new BashSession({ cwd });
      const { output } = await callTool({ session, confine: 'workspace' }, command);
      return (output as { confinement: Confinement }).confinement;
    },
    'the bash tool in a terminal': async (cwd, command) => {
      const { output } = await callTool({ cwd, terminal: {}, confine: 'workspace' }, command);
      return (output as { confinement: Confinement }).confinement;
    },
    'the terminal tool': async (cwd, command) => {
      await using tool = createTerminalTool({ cwd, confine: 'workspace' });
      await tool.execute({ action: 'start', command }, call);
      const view = await tool.execute({ action: 'wait', timeout_ms: 20_000, id: 't1' }, call);
      return (view as { confinement: Confinement }).confinement;
    },
    'the shell of Anthropic': async (cwd, command) => {
      const output = await last(anthropicBash({ cwd, confine: 'workspace' }).execute({ command }, call));
      return (output as { confinement: Confinement }).confinement;
    },
    'the shell of OpenAI': async (cwd, command) => {
      const tool = openaiShell({ cwd, confine: 'workspace' });
      await last(tool.execute({ action: { commands: [command] } }, call));
      return null;
    },
    'the local shell of OpenAI': async (cwd, command) => {
      const tool = openaiLocalShell({ cwd, confine: 'workspace' });
      await last(tool.execute({ action: { type: 'exec', command: ['bash', '-c', command] } }, call));
      return null;
    },
    '@openai/agents': async (cwd, command) => {
      await agentsShell({ cwd, confine: 'workspace' }).run({ commands: [command] });
      return null;
    },
    'a local sandbox': async (cwd, command) => {
      const sandbox = createLocalSandbox({ cwd, confine: 'workspace' });
      await sandbox.runCommand('bash', ['-c', command]);
      await sandbox.stop();
      return null;
    },
    'a session of ai 7': async (cwd, command) => {
      await using session = createLocalSandboxSession({ cwd, confine: 'workspace' });
      await session.run({ command });
      return null;
    },
    'an MCP server': async (cwd, command) => {
      type Answer = { structuredContent: { confinement: Confinement } };
      const handlers = new Map<string, (input: object, extra: object) => Promise<Answer>>();
      const registerTool = (name: string, _: object, handler: never) => handlers.set(name, handler);
      const server = { getClientCapabilities: () => ({}), listRoots: async () => ({ roots: [] }) };
      registerBashTools({ registerTool, server } as never, { cwd, confine: 'workspace' });
      const extra = { requestId: 1, signal: new AbortController().signal, sendNotification: async () => {} };
      const answer = await handlers.get('bash')?.({ command }, extra);
      return answer?.structuredContent.confinement;
    },
  };

  for (const [name, run] of Object.entries(ways)) {
    linuxTest(name, async () => {
      const { cwd, other, tries } = place();
      const confinement = await run(cwd, tries);
      await until(() => existsSync(join(cwd, 'in')), 'the file of the workspace is there');
      expect(existsSync(join(other, 'out'))).toBe(false);
      if (confinement !== null) expect(confinement).toMatchObject({ profile: 'workspace' });
    });
  }
});

describe('the root', () => {
  linuxTest('is that of the tool, whatever directory the model asks for', async () => {
    const { cwd, other } = place();
    const { output } = await callTool({ cwd, confine: 'workspace' }, { command: 'echo x > x', cwd: other });
    expect(output).toMatchObject({ exitCode: 1 });
    expect(existsSync(join(other, 'x'))).toBe(false);
  });

  linuxTest('is that of perCall, for one agent with many users', async () => {
    const { cwd, other } = place();
    const options = { cwd, confine: 'workspace' as const, perCall: () => ({ cwd: other }) };
    expect((await callTool(options, `echo x > x; echo x > ${cwd}/x`)).output).toMatchObject({ exitCode: 1 });
    expect([existsSync(join(other, 'x')), existsSync(join(cwd, 'x'))]).toEqual([true, false]);
  });

  linuxTest('is the first directory of a session, wherever it goes', async () => {
    const { cwd, other } = place();
    await using session = new BashSession({ cwd, confine: 'workspace' });
    await session.run(`cd ${other}`);
    expect(session.cwd).toBe(other);
    expect((await session.run(`echo x > x`)).exitCode).toBe(1);
    expect((await session.run(`echo x > ${cwd}/x`)).exitCode).toBe(0);
  });

  linuxTest('of a terminal in a session is that of the session, whatever directory the model asks for', async () => {
    const { cwd, other } = place();
    await using session = new BashSession({ cwd, confine: 'workspace' });
    await using tool = createTerminalTool({ session });
    await tool.execute({ action: 'start', command: 'echo x > x; echo done', cwd: other }, call);
    await tool.execute({ action: 'wait', timeout_ms: 20_000, id: 't1' }, call);
    expect(existsSync(join(other, 'x'))).toBe(false);
  });
});

describe('a world', () => {
  linuxTest('belongs to one tool: its commands share /tmp, and those of another tool do not', async () => {
    const { cwd } = place();
    const [one, other] = [createBashTool({ cwd, confine: 'workspace' }), createBashTool({ cwd, confine: 'workspace' })];
    const run = async (tool: typeof one, command: string) => last(tool.execute({ command }, call));
    await run(one, 'echo kept > /tmp/note');
    expect(await run(one, 'cat /tmp/note')).toMatchObject({ stdout: 'kept\n' });
    expect(await run(other, 'cat /tmp/note')).toMatchObject({ exitCode: 1 });
  });

  linuxTest('of a session ends with it', async () => {
    const { cwd } = place();
    const session = new BashSession({ cwd, confine: 'workspace' });
    const { confinement } = await session.run('echo x > /tmp/x');
    expect(existsSync(join(confinement?.tmp as string, 'x'))).toBe(true);
    await session.close();
    await until(() => !existsSync(confinement?.tmp as string), 'its /tmp is gone');
  });

  linuxTest('a server of one call is reached by the next', async () => {
    const { cwd } = place();
    const script = "require('net').createServer((s) => s.end('hi')).listen(4321)";
    await using registry = new BackgroundRegistry();
    const tool = createBashTool({ cwd, confine: 'workspace', registry });
    const command = `${process.execPath} -e "${script}"`;
    const started = await last(tool.execute({ command, mode: 'background' }, call));
    const { background } = started as Awaited<ReturnType<typeof bash>>;
    const reach =
      'for n in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/4321) 2>/dev/null && exec echo reached; sleep .1; done';
    expect(await last(tool.execute({ command: reach }, call))).toMatchObject({ stdout: 'reached\n' });
    await registry.kill(background?.id as string);
  });
});

describe('the methods for files of a confined sandbox', () => {
  linuxTest('change and read what its commands can', async () => {
    const { cwd, other } = place();
    writeFileSync(join(other, 'secret'), 'secret');
    const sandbox = createLocalSandbox({ cwd, confine: { hide: [other] } });
    await sandbox.writeFiles([
      { path: 'a/b', content: 'text' },
      { path: '/tmp/note', content: new Uint8Array([0, 255]) },
    ]);
    expect(readFileSync(join(cwd, 'a/b'), 'utf8')).toBe('text');
    expect(existsSync('/tmp/note')).toBe(false);
    const listed = await sandbox.runCommand('od', ['-An', '-tx1', '/tmp/note']);
    expect((await listed.stdout()).trim()).toBe('00 ff');
    const stream = await sandbox.readFile({ path: 'a/b' });
    expect(await new Response(stream as ReadableStream<Uint8Array>).text()).toBe('text');
    expect(await sandbox.readFile({ path: 'none' })).toBe(null);
    await sandbox.mkDir('c/d');
    expect(existsSync(join(cwd, 'c/d'))).toBe(true);
    mkdirSync(join(cwd, '.git/hooks'), { recursive: true });
    writeFileSync(join(cwd, '.git/HEAD'), 'ref: refs/heads/main\n');
    for (const path of [join(other, 'x'), '/etc/agent-bash-x', '.git/hooks/pre-commit', '.envrc']) {
      await expect(sandbox.writeFiles([{ path, content: 'x' }]), path).rejects.toMatchObject({
        code: expect.stringMatching(/^E(ROFS|ACCES|PERM|NOENT)$/),
      });
    }
    const secret = await sandbox.readFile({ path: join(other, 'secret') }).catch(() => null);
    expect(secret).toBe(null);
    await sandbox.stop();
  });

  linuxTest('of a session of ai 7, too', async () => {
    const { cwd, other } = place();
    await using session = createLocalSandboxSession({ cwd, confine: 'workspace' });
    await session.writeTextFile({ path: 'dir/file', content: 'one\ntwo\nthree\n' });
    expect(await session.readTextFile({ path: 'dir/file', startLine: 2, endLine: 2 })).toBe('two');
    expect(await session.readTextFile({ path: 'none' })).toBe(null);
    expect(await session.stat({ path: 'dir/file' })).toEqual({ type: 'file', size: 14 });
    expect(await session.listDirectory({ path: 'dir' })).toEqual([{ name: 'file', type: 'file' }]);
    await expect(session.listDirectory({ path: 'dir/file' })).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(session.readTextFile({ path: 'dir' })).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(session.writeTextFile({ path: join(other, 'x'), content: 'x' })).rejects.toMatchObject({
      code: expect.stringMatching(/^E(ROFS|ACCES)$/),
    });
    expect(await session.deleteFile({ path: 'dir/file' })).toBe(true);
    expect(await session.deleteFile({ path: 'dir/file' })).toBe(false);
    const home = await session.run({ command: 'echo x > ~/x && cat ~/x' });
    expect(home.stdout).toBe('x\n');
  });
});

linuxTest('a tool in a sandbox of the host refuses to confine there', async () => {
  const { cwd } = place();
  const { output } = await callTool({ sandbox: createLocalSandbox({ cwd }), confine: 'workspace' }, 'true');
  expect(output).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED', error: 'in a sandbox there is no confine' });
});
