import { join } from 'node:path';
import * as acp from '@agentclientprotocol/sdk';
import { acpAsk, acpRunner, acpTerminals } from 'agent-bash/acp';
import { createBashTool } from 'agent-bash/ai';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, folder, packageRoot, promptly, until } from '../../support/index.ts';
import { printedByPage } from './support.ts';

let cwd: string;
beforeEach(() => {
  cwd = folder();
});

const sessionId = 'session';

/** Streams between two apps, as standard input and output carry them. */
function streams(): [acp.Stream, acp.Stream] {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  return [acp.ndJsonStream(there.writable, back.readable), acp.ndJsonStream(back.writable, there.readable)];
}

/** Connects a client app to an agent. Returns the agent's context, and the end of both sides. */
function connect(app: acp.ClientApp, agent = acp.agent()): { client: acp.AgentContext; close(): void } {
  const [here, there] = streams();
  const client = app.connect(here);
  const connection = agent.connect(there);
  const close = () => {
    connection.close();
    client.close();
  };
  onTestFinished(close);
  return { client: connection.client, close };
}

/** The agent of a client with our terminals. */
function agentOf(options: Parameters<typeof acpTerminals>[1] = {}) {
  const terminals = acpTerminals(acp, { cwd, ...options });
  onTestFinished(() => terminals.close());
  const connection = connect(terminals.register(acp.client()));
  const { client } = connection;
  const create = (command: string, params: Partial<acp.CreateTerminalRequest> = {}) =>
    client.createTerminal({ sessionId, command, ...params });
  return { terminals, connection, client, create };
}

const failure = (call: Promise<unknown>) => call.then(() => null).catch((error: acp.RequestError) => error);

describe('acpTerminals', () => {
  it('both streams: in the order of writing, cleaned, with the real exit', async () => {
    const { create } = agentOf();
    const terminal = await create("echo one; echo two >&2; printf '\\e[31mred\\e[0m\\n10%%\\r100%%\\n'; exit 7");
    expect(await terminal.waitForExit()).toEqual({ exitCode: 7 });
    const output = 'one\ntwo\nred\n100%\n';
    expect(await terminal.currentOutput()).toEqual({ output, truncated: false, exitStatus: { exitCode: 7 } });
    const killed = await create('kill -TERM $$');
    expect(await killed.waitForExit()).toEqual({ exitCode: null, signal: 'SIGTERM' });
  });

  it('an unfinished line: can be read while the command runs', async () => {
    const { create } = agentOf();
    const terminal = await create("printf 'name? '; sleep 1000");
    await until(async () => (await terminal.currentOutput()).output === 'name? ', 'the prompt is there');
    expect((await terminal.currentOutput()).exitStatus).toBeNull();
    await terminal.release();
  });

  it('with args the command is a program, and an empty list is none', async () => {
    const { create } = agentOf();
    const program = await create('printf', { args: ['%s|', "it's", '$HOME', ''] });
    await program.waitForExit();
    expect((await program.currentOutput()).output).toBe("it's|$HOME||");
    const line = await create('echo a && echo b', { args: [] });
    await line.waitForExit();
    expect((await line.currentOutput()).output).toBe('a\nb\n');
  });

  it('a large output: the end is kept, within the limit and at a character', async () => {
    const { create } = agentOf();
    const terminal = await create('yes 日本 | head -c 3000000', { outputByteLimit: 1000 });
    await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(output)).toBeGreaterThan(996);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1000);
    expect(output).not.toContain('\ufffd');
    const whole = await create('yes | head -c 3000000');
    await whole.waitForExit();
    expect((await whole.currentOutput()).output.length).toBe(1024 * 1024);
  });

  it('an unfinished line over the limit is said to be cut', async () => {
    const { create } = agentOf();
    const terminal = await create('printf abcdefgh; sleep 1000', { outputByteLimit: 3 });
    await until(async () => (await terminal.currentOutput()).output === 'fgh', 'the end of the line');
    expect((await terminal.currentOutput()).truncated).toBe(true);
    await terminal.release();
  });

  it('a terminal is killed: the whole tree ends, and the terminal stays until it is released', async () => {
    const { create } = agentOf();
    const terminal = await create(WITH_CHILD);
    const pid = await pidIn(cwd);
    const waiting = terminal.waitForExit();
    await terminal.kill();
    expect(alive(pid)).toBe(false);
    expect(await waiting).toEqual({ exitCode: null, signal: 'SIGTERM' });
    expect((await terminal.currentOutput()).output).toContain('started\n');
    await terminal.release();
    expect(await failure(terminal.currentOutput())).toMatchObject({ code: -32002 });
  });

  it('a child holds the output: the exit is told with the shell, and the child ends with the terminal', async () => {
    const { create } = agentOf();
    const terminal = await create(HELD_PIPE);
    await promptly(() => terminal.waitForExit());
    expect((await terminal.currentOutput()).output).toMatch(/^first\nlast\n/);
    const pid = await pidIn(cwd);
    expect(alive(pid)).toBe(true);
    await terminal.release();
    expect(alive(pid)).toBe(false);
  });

  it('a wait is cancelled: the command goes on', async () => {
    const { client, create } = agentOf();
    const terminal = await create('sleep 1000');
    const controller = new AbortController();
    const params = { sessionId, terminalId: terminal.id };
    const cancel = { cancellationSignal: controller.signal };
    const waiting = failure(client.request('terminal/wait_for_exit', params, cancel));
    controller.abort();
    expect(await waiting).toMatchObject({ code: -32800 });
    expect((await terminal.currentOutput()).exitStatus).toBeNull();
    await terminal.release();
  });

  it('the limit is reached: the exit is 124, and the output says so', async () => {
    const { create } = agentOf({ timeoutMs: 300 });
    const terminal = await create('echo before; sleep 1000');
    expect(await terminal.waitForExit()).toEqual({ exitCode: 124 });
    expect((await terminal.currentOutput()).output).toMatch(/^before\n\n?\[.*time/);
  });

  it('a connection closes: its terminals end, and those of no other', async () => {
    const terminals = acpTerminals(acp, { cwd });
    onTestFinished(() => terminals.close());
    const app = terminals.register(acp.client());
    const [one, other] = [connect(app), connect(app)];
    await one.client.createTerminal({ sessionId, command: WITH_CHILD });
    const pid = await pidIn(cwd);
    const theirs = await other.client.createTerminal({ sessionId, command: 'sleep 1000' });
    const mine = { sessionId, terminalId: theirs.id };
    expect(await failure(one.client.request('terminal/output', mine))).toMatchObject({ code: -32002 });
    one.close();
    await gone(pid);
    expect((await theirs.currentOutput()).exitStatus).toBeNull();
    await theirs.release();
  });

  it('close ends the terminals of one session, or all', async () => {
    const { terminals, create } = agentOf();
    const one = await create(WITH_CHILD);
    const pid = await pidIn(cwd);
    const other = await create('sleep 1000', { sessionId: 'other' });
    await terminals.close(sessionId);
    expect(alive(pid)).toBe(false);
    expect(await failure(one.currentOutput())).toMatchObject({ code: -32002 });
    expect((await other.currentOutput()).exitStatus).toBeNull();
    await terminals.close();
    expect(await failure(other.currentOutput())).toMatchObject({ code: -32002 });
    expect(await (await create('true')).waitForExit()).toEqual({ exitCode: 0 });
  });

  it('a command is refused: the error has the code of the protocol, and ours in its data', async () => {
    const { client, create } = agentOf({ approval: { deny: ['npm publish:*'], ask: ['git push:*'] } });
    const of = async (command: string, params = {}) => {
      const { code, data } = (await failure(create(command, params))) as { code: number; data: { code: string } };
      return [code, data.code];
    };
    expect(await of('true', { cwd: 'relative' })).toEqual([-32602, 'ERR_BASH_INVALID_ARG']);
    expect(await of('true', { cwd: join(cwd, 'missing') })).toEqual([-32602, 'ERR_BASH_CWD_NOT_FOUND']);
    expect(await of('rm -rf /')).toEqual([-32010, 'ERR_BASH_BLOCKED']);
    expect(await of('npm', { args: ['publish'] })).toEqual([-32010, 'ERR_BASH_BLOCKED']);
    expect(await of('git push origin main')).toEqual([-32010, 'ERR_BASH_BLOCKED']);
    const other = await create('sleep 1000');
    const params = { sessionId: 'other', terminalId: other.id };
    expect(await failure(client.request('terminal/kill', params))).toMatchObject({ code: -32002 });
  });

  it('a cancelled creation withdraws the question, and starts nothing', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const onAsk = (_: unknown, { signal }: { signal: AbortSignal }) => {
      asked.resolve(signal);
      return new Promise<boolean>(() => {});
    };
    const { client } = agentOf({ approval: { ask: ['touch:*'], onAsk } });
    const controller = new AbortController();
    const cancel = { cancellationSignal: controller.signal };
    const creating = failure(client.createTerminal({ sessionId, command: 'touch made' }, cancel));
    const signal = await asked.promise;
    controller.abort();
    expect(await creating).toMatchObject({ code: -32800 });
    expect(signal.aborted).toBe(true);
  });

  it('confinement denies: the reason stands behind the output', async () => {
    const results: unknown[] = [];
    const onAfterRun = ({ result }: { result: unknown }) => void results.push(result);
    const { create } = agentOf({ confine: 'workspace', onAfterRun });
    const terminal = await create(`echo no > ${packageRoot}/denied; echo yes > file`);
    await terminal.waitForExit();
    expect((await terminal.currentOutput()).output).toMatch(/\[.*denied/);
    expect(results).toMatchObject([{ confinement: { denied: [{ kind: 'write' }] } }]);
  });
});

describe('acpRunner', () => {
  it('commands of the tool run in the terminals of the editor, each of which is released', async () => {
    const { client } = agentOf();
    const ids: string[] = [];
    const sandbox = acpRunner(client, { sessionId, onTerminal: (id) => void ids.push(id) });
    const tool = createBashTool({ sandbox, cwd, env: { GREETING: 'hi' } });
    expect(await last(tool, 'pwd; echo $GREETING; exit 3')).toMatchObject({ stdout: `${cwd}\nhi\n`, exitCode: 3 });
    expect(await last(tool, 'kill -9 $$')).toMatchObject({ exitCode: 137 });
    for (const terminalId of ids) {
      expect(await failure(client.request('terminal/output', { sessionId, terminalId }))).toMatchObject({
        code: -32002,
      });
    }
    expect(ids).toHaveLength(2);
  });

  it('safety denies: nothing is sent to the client', async () => {
    const { client } = agentOf({ safety: 'off' });
    const ids: string[] = [];
    const tool = createBashTool({ sandbox: acpRunner(client, { sessionId, onTerminal: (id) => void ids.push(id) }) });
    expect(await last(tool, 'rm -rf /')).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    expect(ids).toEqual([]);
  });

  it('a refusal of the client keeps its code', async () => {
    const { client } = agentOf({ approval: { deny: ['bash:*', 'touch:*'] } });
    const runner = acpRunner(client, { sessionId });
    await expect(runner.runCommand('touch', ['made'])).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    await expect(runner.runCommand({ cmd: 'ls', cwd: 'here' })).rejects.toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
  });

  it('an abort kills', async () => {
    const { client } = agentOf();
    const controller = new AbortController();
    const tool = createBashTool({ sandbox: acpRunner(client, { sessionId }), cwd });
    const running = last(tool, WITH_CHILD, controller.signal);
    const pid = await pidIn(cwd);
    controller.abort();
    expect(await running).toMatchObject({ status: 'aborted', exitCode: 130 });
    await gone(pid);
  });

  it('the end of the connection is told', async () => {
    const { client, connection } = agentOf();
    const made = Promise.withResolvers<string>();
    const runner = acpRunner(client, { sessionId, onTerminal: made.resolve });
    const running = runner.runCommand({ cmd: 'bash', args: ['-c', WITH_CHILD], cwd });
    await made.promise;
    const pid = await pidIn(cwd);
    connection.close();
    const finished = await running;
    expect([finished.exitCode, await finished.stderr()]).toEqual([255, expect.stringContaining('lost the command')]);
    await gone(pid);
  });

  it('a cut by the client is told', async () => {
    const { client } = agentOf();
    const finished = await acpRunner(client, { sessionId }).runCommand('seq', ['300000']);
    expect((await finished.stdout()).endsWith('300000\n')).toBe(true);
    expect(await finished.output('stderr')).toContain('only the end');
  });
});

describe('acpAsk', () => {
  /** A client whose person answers with this option. */
  function person(answer: string | null) {
    const asked: acp.RequestPermissionRequest[] = [];
    const app = acp.client().onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      const outcome = answer === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: answer };
      return { outcome } as acp.RequestPermissionResponse;
    });
    return { asked, ask: acpAsk(acp, connect(app).client, { sessionId }) };
  }

  const question = { command: 'git push', cwd: '/srv', toolCallId: 'call-1', reason: 'it pushes' };
  const { signal } = new AbortController();

  it('a person allows once, always, or not, and is asked about the command', async () => {
    const of = (answer: string | null, suggestRules: string[]) =>
      person(answer).ask({ ...question, suggestRules }, { signal });
    expect(await of('allow_once', [])).toEqual({ approved: true });
    expect(await of('allow_always', ['git push:*'])).toEqual({ approved: 'always' });
    expect(await of('allow_always', [])).toMatchObject({ approved: false });
    expect(await of('reject_once', ['git push:*'])).toMatchObject({
      approved: false,
      reason: expect.stringMatching('refused'),
    });
    expect(await of(null, [])).toMatchObject({ approved: false, reason: expect.stringMatching('withdrawn') });
    const { asked, ask } = person('allow_once');
    await ask({ ...question, suggestRules: ['git push:*'] }, { signal });
    await ask({ ...question, suggestRules: [] }, { signal });
    expect(asked[0]).toMatchObject({
      sessionId,
      toolCall: { toolCallId: 'call-1', kind: 'execute', title: 'git push' },
    });
    expect(asked.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
      ['allow_once', 'allow_always', 'reject_once'],
      ['allow_once', 'reject_once'],
    ]);
  });

  it('an abort withdraws the question', async () => {
    const withdrawn = Promise.withResolvers<void>();
    const controller = new AbortController();
    const app = acp.client().onRequest('session/request_permission', ({ signal }) => {
      signal.addEventListener('abort', () => withdrawn.resolve());
      controller.abort();
      return new Promise<never>(() => {});
    });
    const ask = acpAsk(acp, connect(app).client, { sessionId });
    const answer = await ask({ ...question, suggestRules: [] }, { signal: controller.signal });
    expect(answer).toMatchObject({ approved: false });
    await withdrawn.promise;
  });
});

it('the examples of the page run', async () => {
  expect(await printedByPage('acp.md', {})).toEqual([['hello → 0', 'hello'], ['exit 0']]);
});

/** Returns the last output of a command of the tool. */
async function last(tool: ReturnType<typeof createBashTool>, command: string, abortSignal?: AbortSignal) {
  let output: unknown;
  for await (const next of tool.execute({ command }, { toolCallId: 'call', abortSignal })) output = next;
  return output;
}
