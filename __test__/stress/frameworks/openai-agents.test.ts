import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Runner, RunState } from '@openai/agents';
import { Manifest, SandboxAgent, shell } from '@openai/agents/sandbox';
import * as local from '@openai/agents/sandbox/local';
import { type BashResult, undo } from 'agent-bash';
import { type AgentsSandboxOptions, agentsApproval, agentsSandbox } from 'agent-bash/openai-agents';
import { describe, expect, it } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, finished, folder, freePort, HANG, settles, until } from '../../support/index.ts';
import { Caller, type Turn } from './openai-agents-model.ts';
import { printedByPage } from './support.ts';

type Options = AgentsSandboxOptions<typeof local>;

/** Makes a session with its workspace, closed when the test has finished. */
async function sessionOf(options?: Options, manifest = new Manifest()) {
  const session = await agentsSandbox(local, options).create(manifest);
  finished(() => session.close());
  return { session, workspace: session.state.workspaceRootPath };
}

type Session = Awaited<ReturnType<typeof sessionOf>>['session'];

/** Returns the id under which a command goes on. */
function idIn(text: string): number {
  return Number(/^Process running with session ID (\d+)$/m.exec(text)?.[1]);
}

/** Reads a session until its output has this text, or until it has ended. Returns all that was read. */
async function readUntil(session: Session, sessionId: number, text: string, chars = ''): Promise<string> {
  let all = '';
  await until(async () => {
    const read = await session.writeStdin({ sessionId, chars: all === '' ? chars : '', yieldTimeMs: 20 });
    all += read.slice(read.indexOf('Output:\n') + 'Output:\n'.length);
    if (read.includes('Process exited')) all += read.slice(0, read.indexOf('Output:'));
    return all.includes(text);
  }, text);
  return all;
}

/** Runs an agent whose model makes these calls. */
function agentOf(turns: Turn[], approval?: Parameters<typeof agentsApproval>[0]) {
  const capabilities = [shell(approval && { configureTools: agentsApproval(approval) })];
  return new SandboxAgent({ name: 'worker', model: new Caller(...turns), capabilities });
}

describe('what the own shell of the framework lacks', () => {
  it('a child holds the output: the call returns with the shell, and stop and close end the child', async () => {
    const { session, workspace } = await sessionOf();
    const { exitCode, output } = await settles(session.exec({ cmd: HELD_PIPE, yieldTimeMs: HANG }));
    const child = await pidIn(workspace);
    expect(exitCode).toBe(0);
    expect(output).toContain('first\nlast\n');
    expect(alive(child)).toBe(true);
    await settles(session.stop());
    expect(alive(child)).toBe(false);
  });

  it('a signal: the exit code is 128 + n, and the signal is named', async () => {
    const { session } = await sessionOf();
    expect(await session.exec({ cmd: 'kill -9 $$' })).toMatchObject({
      exitCode: 137,
      stderr: expect.stringContaining('SIGKILL'),
    });
  });

  it('a time limit: it ends the whole tree, with exit code 124 and the output so far', async () => {
    const { session, workspace } = await sessionOf({ timeoutMs: 1_000 });
    const { exitCode, output } = await session.exec({ cmd: WITH_CHILD });
    expect(exitCode).toBe(124);
    expect(output).toMatch(/^started\n\n\[.*1s.*\]/);
    await gone(await pidIn(workspace));
  });

  it('the end of a session: nothing that its commands have started is left', async () => {
    const { session, workspace } = await sessionOf();
    const text = await session.execCommand({ cmd: WITH_CHILD, yieldTimeMs: 0 });
    const child = await pidIn(workspace);
    expect(idIn(text)).toBeGreaterThan(0);
    await settles(session.close());
    expect(alive(child)).toBe(false);
    expect(await session.writeStdin({ sessionId: idIn(text) })).toContain('session not found');
  });

  it('both streams: the model reads them in the order of writing, and programs read them apart', async () => {
    const { session } = await sessionOf();
    const cmd = 'for i in 1 2 3; do echo o$i; echo e$i >&2; done';
    expect(await session.execCommand({ cmd })).toContain('Output:\no1\ne1\no2\ne2\no3\ne3\n');
    expect(await session.exec({ cmd })).toMatchObject({ stdout: 'o1\no2\no3\n', stderr: 'e1\ne2\ne3\n' });
  });

  it('an interrupt without a terminal: it reaches all processes of the command', async () => {
    const { session } = await sessionOf();
    const id = idIn(await session.execCommand({ cmd: 'sleep 1000; echo $?', yieldTimeMs: 0 }));
    expect(await readUntil(session, id, 'Process exited with code', '\u0003')).toContain('code 130');
  });

  it('what a command reaches: files are changed in the workspace alone, and a denial is said', async () => {
    const { session, workspace } = await sessionOf({ confine: 'workspace' });
    await session.execCommand({ cmd: 'mkdir sub' });
    const text = await session.execCommand({ cmd: 'echo a > ../a; touch /etc/agent-bash-test', workdir: 'sub' });
    expect(text).toContain('[confined: write /etc/agent-bash-test denied (touch)]');
    expect(await readFile(join(workspace, 'a'), 'utf8')).toBe('a\n');
  });

  it('a port of a confined server: those of exposedPorts are reached', async () => {
    const port = await freePort();
    const { session } = await sessionOf({ confine: 'workspace', local: { exposedPorts: [port] } });
    await session.execCommand({ cmd: `python3 -m http.server ${port}`, yieldTimeMs: 0 });
    const { host } = await session.resolveExposedPort(port);
    const answer = () =>
      fetch(`http://${host}:${port}/`).then(
        ({ status }) => status,
        () => undefined,
      );
    expect(await until(answer, 'the server')).toBe(200);
  });

  it('a dangerous command: it is refused as exit code 126, with the reason', async () => {
    const { session } = await sessionOf();
    expect(await session.execCommand({ cmd: 'rm -rf /' })).toMatch(/code 126\nOutput:\npermission denied: .*critical/);
  });
});

describe('a session', () => {
  it('has the names of the workspace, and the files of the manifest', async () => {
    const entries = { 'docs/a.txt': { type: 'file', content: 'text' } } as const;
    const { session } = await sessionOf({}, new Manifest({ entries }));
    const text = await session.execCommand({ cmd: 'pwd; cat /workspace/docs/a.txt', workdir: '/workspace/docs' });
    expect(text).toMatch(/^Chunk ID: \w{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 0\nOutput:\n/);
    expect(text).toContain('Output:\n/workspace/docs\ntext');
    await expect(session.execCommand({ cmd: 'true', workdir: '/etc' })).rejects.toThrow('/etc');
    expect(await session.exec({ cmd: 'true', workdir: 'missing' })).toMatchObject({ exitCode: 126 });
  });

  it('has the variables of the manifest and none of the host', async () => {
    process.env.AGENT_BASH_TEST_NAME = 'host';
    finished(() => delete process.env.AGENT_BASH_TEST_NAME);
    const { session } = await sessionOf(
      { env: { A: 'option', B: 'option' } },
      new Manifest({ environment: { A: 'own' } }),
    );
    const { stdout } = await session.exec({ cmd: 'echo "$A $B $HOME $USER <$AGENT_BASH_TEST_NAME>"', login: true });
    expect(stdout).toBe('own option /workspace sandbox <>\n');
  });

  it.each([false, true])('goes on under an id, is fed, polled and interrupted (tty: %s)', async (tty) => {
    const { session } = await sessionOf();
    const cmd = 'printf "name? "; read name; echo "hi $name"; trap "echo caught; exit 7" INT; sleep 1000';
    const text = await session.execCommand({ cmd, tty, yieldTimeMs: 0 });
    const id = idIn(text);
    const asked = text.includes('name? ') ? text : await readUntil(session, id, 'name? ');
    const greeted = await readUntil(session, id, 'hi ann', 'ann\n');
    expect(`${asked}${greeted}`.split('name?').length).toBe(2);
    expect(await session.writeStdin({ sessionId: id, yieldTimeMs: 0 })).toMatch(/Output:\n$/);
    const end = await readUntil(session, id, 'Process exited', '\u0003');
    expect(end).toContain('caught');
    expect(end).toContain('code 7');
    expect(await session.writeStdin({ sessionId: id })).toContain(`session not found: ${id}`);
  });

  it('keeps both ends within maxOutputTokens, and 1 MiB between two reads', async () => {
    const { session } = await sessionOf();
    const cut = await session.exec({ cmd: 'seq 100000', maxOutputTokens: 100 });
    expect(cut.originalTokenCount).toBe(Math.ceil(588_895 / 4));
    expect(cut.output).toMatch(/^\[output truncated in middle.*\]\n1\n2\n/);
    expect(cut.output).toMatch(/\n99999\n100000\n/);
    expect(cut.output.length).toBeLessThan(600);
    const { stdout } = await session.exec({ cmd: 'seq 1000000' });
    expect(stdout.length).toBeGreaterThan(900_000);
    expect(stdout.length).toBeLessThan(1_100_000);
    expect(stdout).toMatch(/\[stdout: Showing last \d+ of 1000000 lines\]$/);
  });

  it('has whole characters, and progress lines in their last state', async () => {
    const { session } = await sessionOf();
    const cmd = "printf '\\xc3'; sleep .1; printf '\\xa4\\n'; printf '1%%\\r2%%\\r3%%\\n'; printf '\\e[31mred\\e[0m'";
    expect(await session.exec({ cmd })).toMatchObject({ output: 'ä\n3%\nred' });
  });

  it('takes a shell of the system, and no other program', async () => {
    const { session } = await sessionOf();
    expect(await session.exec({ cmd: 'echo $0', shell: '/bin/sh' })).toMatchObject({ stdout: 'sh\n' });
    expect(await session.exec({ cmd: 'print(1)', shell: 'python3' })).toMatchObject({ exitCode: 126, stdout: '' });
    expect(await session.exec({ cmd: 'true', shell: './sh' })).toMatchObject({ exitCode: 126 });
  });

  it('has no other user', async () => {
    const { session } = await sessionOf();
    await expect(session.execCommand({ cmd: 'true', runAs: 'nobody' })).rejects.toThrow(
      local.SandboxUnsupportedFeatureError,
    );
  });

  it('asks the person of its approval, whose time does not count', async () => {
    const asked: string[] = [];
    const onAsk = ({ command }: { command: string }) => {
      asked.push(command);
      return new Promise<boolean>((resolve) => setTimeout(() => resolve(asked.length === 1), 300));
    };
    const { session } = await sessionOf({ approval: { ask: ['echo:*'], onAsk } });
    expect(await session.exec({ cmd: 'echo a', yieldTimeMs: 100 })).toMatchObject({ exitCode: 0, stdout: 'a\n' });
    expect(await session.exec({ cmd: 'echo b', yieldTimeMs: 100 })).toMatchObject({ exitCode: 126, stdout: '' });
    expect(asked).toEqual(['echo a', 'echo b']);
  });

  it('has a home of its own with undo, and takes changes back', async () => {
    const results: BashResult[] = [];
    const onAfterRun = ({ result }: { result: BashResult }) => void results.push(result);
    const dir = folder();
    const { session, workspace } = await sessionOf({ undo: { when: 'always', dir }, confine: 'workspace', onAfterRun });
    expect(await session.exec({ cmd: 'echo a > ~/a; echo a > a; cat ~/a' })).toMatchObject({ stdout: 'a\n' });
    await session.exec({ cmd: 'echo b > a' });
    await undo(results[1]?.runId ?? '', { dir });
    expect(await readFile(join(workspace, 'a'), 'utf8')).toBe('a\n');
  });

  it('may be used after a stop', async () => {
    const { session } = await sessionOf({ confine: 'workspace' });
    await session.exec({ cmd: 'echo a > a' });
    await session.stop();
    expect(await session.exec({ cmd: 'cat a' })).toMatchObject({ stdout: 'a\n', exitCode: 0 });
  });

  it('is resumed from its state by a client of the same name', async () => {
    const client = agentsSandbox(local);
    expect(client.backendId).toBe('agent_bash');
    const first = await client.create(new Manifest());
    finished(() => first.close());
    await first.exec({ cmd: 'echo a > a' });
    const state = JSON.parse(JSON.stringify(await client.serializeSessionState(first.state)));
    const other = agentsSandbox(local, { env: { B: 'b' } });
    const second = await other.resume(await other.deserializeSessionState(state));
    finished(() => second.close());
    expect(await second.exec({ cmd: 'cat a; echo $B' })).toMatchObject({ stdout: 'a\nb\n' });
  });
});

describe('a run', () => {
  const runner = new Runner();

  it('uses the shell by exec_command and write_stdin', async () => {
    const turns: Turn[] = [
      { input: { cmd: 'read name; echo "hi $name"', yield_time_ms: 0 } },
      { tool: 'write_stdin', input: { session_id: 1, chars: 'ann\n', yield_time_ms: HANG } },
    ];
    const { finalOutput } = await runner.run(agentOf(turns), 'go', { sandbox: { client: agentsSandbox(local) } });
    expect(finalOutput).toMatch(/Process exited with code 0\nOutput:\nhi ann\n$/);
  });

  it('ends its commands at its end, and at an abort of the signal that the client also has', async () => {
    const workspaceBaseDir = await sessionOf().then(({ workspace }) => workspace);
    const abort = new AbortController();
    const client = agentsSandbox(local, { signal: abort.signal, local: { workspaceBaseDir } });
    const cmd = WITH_CHILD.replace('> pid', `> ${workspaceBaseDir}/pid`);
    const run = runner.run(agentOf([cmd]), 'go', { signal: abort.signal, sandbox: { client } });
    const child = await pidIn(workspaceBaseDir);
    abort.abort();
    await expect(settles(run)).rejects.toThrow('abort');
    expect(alive(child)).toBe(false);
  });

  it('is interrupted by a command that asks, and goes on with the answer, also from its text', async () => {
    const client = agentsSandbox(local);
    const approval = { ask: ['git push:*'], deny: ['curl:*'] };
    const agent = agentOf(['echo first; git push origin main'], approval);
    const { state, interruptions } = await runner.run(agent, 'go', { sandbox: { client } });
    expect(interruptions.map(({ name }) => name)).toEqual(['exec_command']);
    const again = await RunState.fromString(agent, state.toString());
    again.approve(again.getInterruptions()[0] as (typeof interruptions)[0]);
    const { finalOutput } = await runner.run(agent, again, { sandbox: { client } });
    expect(finalOutput).toMatch(/code 128\nOutput:\nfirst\nfatal: not a git repository/);

    const rejected = await runner.run(agentOf(['git push'], approval), 'go', { sandbox: { client } });
    rejected.state.reject(rejected.interruptions[0] as (typeof interruptions)[0], { message: 'not today' });
    const said = await runner.run(agentOf([], approval), rejected.state, { sandbox: { client } });
    expect(said.finalOutput).toBe('not today');
  });

  it('gives the reason for a denied command, and asks nobody', async () => {
    const agent = agentOf(['curl https://example.org'], { deny: ['curl:*'] });
    const result = await runner.run(agent, 'go', { sandbox: { client: agentsSandbox(local) } });
    expect(result.interruptions).toEqual([]);
    expect(result.finalOutput).toContain('curl:*');
  });
});

it('the examples of the page run', async () => {
  const caller = await readFile(join(import.meta.dirname, 'openai-agents-model.ts'), 'utf8');
  const model = `${caller}\nexport const model = new Caller('mkdir a', 'git push origin main');`;
  const [lines] = await printedByPage('openai-agents.md', { 'model.js': model });
  expect(lines).toEqual(['mkdir a → 0', 'git push origin main → 128', expect.stringMatching(/^Chunk ID/)]);
}, 120_000);
