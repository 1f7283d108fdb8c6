import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as acp from '@agentclientprotocol/sdk/experimental/v2';
import { BackgroundRegistry, bash, PtySession } from 'agent-bash';
import { experimental_acpAgentTerminals } from 'agent-bash/acp';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { gone, HELD_PIPE, pidIn, WITH_CHILD } from '../../frameworks/support.ts';
import { alive, folder, HANG, settles, timed, until } from '../../support/index.ts';

let cwd: string;
beforeEach(() => {
  cwd = folder();
});

const sessionId = 'session';

const info = { name: 'test', version: '1' };
const initialized: Update = { protocolVersion: acp.PROTOCOL_VERSION, capabilities: {}, info };

// biome-ignore lint/suspicious/noExplicitAny: the updates of the wire
type Update = any;

/** A way for bytes that can be closed, as a client that reads no more, and opened again. */
function gated() {
  let open = Promise.resolve();
  let resume = () => {};
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, way) => open.then(() => way.enqueue(bytes)),
  });
  const pause = () => {
    open = new Promise((resolve) => {
      resume = resolve;
    });
  };
  return { readable, writable, pause, resume: () => resume() };
}

/** An agent with our terminals, and what its client is told. */
async function agentWith(options: Parameters<typeof experimental_acpAgentTerminals>[1] = {}) {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const way = gated();
  const terminals = experimental_acpAgentTerminals(acp, { cwd, ...options });
  const updates: Update[] = [];
  const app = acp.client().onNotification('session/update', ({ params }) => void updates.push(params.update));
  const client = app.connect(acp.ndJsonStream(there.writable, way.readable));
  const agent = terminals.register(acp.agent()).onRequest('initialize', () => initialized);
  const connection = agent.connect(acp.ndJsonStream(way.writable, there.readable));
  await client.agent.request('initialize', initialized);
  const session = terminals.session(connection.client, sessionId);
  const close = () => {
    connection.close();
    client.close();
  };
  onTestFinished(async () => {
    way.resume();
    await session.close();
    close();
  });
  const cancel = (terminalId: string, session = sessionId) =>
    client.agent.request('terminal/cancel', { sessionId: session, terminalId }).catch((error) => error);
  /** Waits until the client has all that it was told so far: an answer of the agent comes after it. */
  const caughtUp = () => cancel('unknown');
  const ended = () => until(() => updates.some(({ exitStatus }) => exitStatus), 'the exit is told');
  const chunks = () => updates.filter(({ data }) => data).map(({ data }) => decoded(data));
  const text = () => chunks().join('');
  return { terminals, connection, session, updates, cancel, close, caughtUp, ended, chunks, text, way };
}

/** Returns the text of a chunk. Throws if it is not of whole characters. */
const decoded = (data: string) => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64'));

describe('run', () => {
  it('the update comes first, then chunks, then the exit and nothing after it', async () => {
    const { session, updates, text, caughtUp } = await agentWith();
    const result = await session.run("printf 'é日\\n'; echo err >&2; exit 3");
    await caughtUp();
    const { terminalId } = result;
    expect(result).toMatchObject({ status: 'exited', exitCode: 3, stdout: 'é日\nerr\n' });
    expect(text()).toBe('é日\nerr\n');
    const command = "printf 'é日\\n'; echo err >&2; exit 3";
    const update = { sessionUpdate: 'terminal_update', terminalId };
    expect(updates[0]).toEqual({ ...update, command, cwd, capabilities: { cancel: {} } });
    expect(updates.at(-1)).toEqual({ ...update, exitStatus: { exitCode: 3 }, capabilities: null });
    const chunk = { sessionUpdate: 'terminal_output_chunk', terminalId, data: expect.any(String) };
    for (const between of updates.slice(1, -1)) expect(between).toEqual(chunk);
  });

  it('a short command: its output never comes before its update', async () => {
    const { session, updates, caughtUp } = await agentWith();
    for (let run = 0; run < 100; run += 1) {
      updates.length = 0;
      await session.run('pwd');
      await caughtUp();
      expect(updates.map(({ command, data, exitStatus }) => command ?? data ?? exitStatus)).toEqual([
        'pwd',
        expect.any(String),
        { exitCode: 0 },
      ]);
    }
  });

  it('a command that a signal has ended: has no code', async () => {
    const { session, updates, ended } = await agentWith();
    await session.run('kill -9 $$');
    await ended();
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: null, signal: 'SIGKILL' });
  });

  it('a directory of the call: starts at that of the options', async () => {
    const { session, updates, ended } = await agentWith();
    const { stdout } = await session.run('pwd', { cwd: '..' });
    await ended();
    expect(updates[0].cwd).toBe(join(cwd, '..'));
    expect(stdout).toBe(`${join(cwd, '..')}\n`);
  });

  it('a character in two writes: comes whole', async () => {
    const { session, text, ended } = await agentWith();
    const running = session.run("mkfifo go; printf 'a\\xe6\\x97'; read _ < go; printf '\\xa5b'");
    await until(() => text() === 'a', 'what comes before the character');
    await writeFile(join(cwd, 'go'), 'go\n');
    await running;
    await ended();
    expect(text()).toBe('a日b');
  });

  it('many small writes: are at most 20 chunks a second', async () => {
    const { session, text, chunks, ended } = await agentWith();
    const [, ms] = await timed(async () => {
      await session.run('for i in {1..200}; do echo $i; sleep .005; done');
      await ended();
    });
    expect(text()).toBe(Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(''));
    // The last one does not wait.
    expect(chunks().length).toBeLessThanOrEqual(ms / 50 + 2);
  });

  it('a large output: comes whole and in order, while little of it waits', async () => {
    let heard = 0;
    let most = 0;
    const { session, text, updates, ended } = await agentWith({
      spill: false,
      onOutput: (chunk) => {
        heard += chunk.text.length;
        const shown = updates.reduce((sum, { data }) => sum + (data ? Buffer.byteLength(data, 'base64') : 0), 0);
        most = Math.max(most, heard - shown);
      },
    });
    await session.run('seq 2000000');
    await ended();
    const { stdout } = await bash('seq 2000000 | cksum', { cwd });
    await writeFile(join(cwd, 'shown'), text());
    expect((await bash('cksum < shown', { cwd })).stdout).toBe(stdout);
    expect(most).toBeLessThan(5_000_000);
  });

  it('an unfinished line: is shown while the command runs, and the host hears it', async () => {
    const heard: string[] = [];
    const { session, updates, cancel, text } = await agentWith({ onOutput: ({ text: part }) => void heard.push(part) });
    const running = session.run("printf 'name? '; sleep 1000");
    await until(() => text() === 'name? ', 'the prompt');
    await cancel(updates[0].terminalId);
    await running;
    expect(heard.join('')).toBe('name? ');
  });

  it('an abort: ends the tree', async () => {
    const { session, updates, ended } = await agentWith();
    const controller = new AbortController();
    const running = session.run(WITH_CHILD, { signal: controller.signal });
    const pid = await pidIn(cwd);
    controller.abort();
    expect(await running).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(alive(pid)).toBe(false);
    await ended();
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: null, signal: 'SIGTERM' });
  });

  it('an abort before the start: is told as such, and nothing runs', async () => {
    const { session, updates, ended } = await agentWith();
    expect(await session.run('touch made', { signal: AbortSignal.abort() })).toMatchObject({ status: 'aborted' });
    await ended();
    expect(updates).toMatchObject([{ command: 'touch made' }, { exitStatus: { exitCode: 130 } }]);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  it('a limit: ends the tree', async () => {
    const { session, updates, ended } = await agentWith();
    const running = session.run(WITH_CHILD, { timeoutMs: 1_500 });
    expect(await running).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(alive(await pidIn(cwd))).toBe(false);
    await ended();
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: 124 });
  });

  it('a refused command: rejects, and shows nothing', async () => {
    const { session, updates, caughtUp } = await agentWith({ approval: { deny: ['touch:*'] } });
    const blocked = { code: 'ERR_BASH_BLOCKED' };
    await expect(session.run('touch made')).rejects.toMatchObject(blocked);
    await expect(session.start('touch made')).rejects.toMatchObject(blocked);
    await expect(session.run('rm -rf /')).rejects.toMatchObject(blocked);
    const nowhere = { code: 'ERR_BASH_CWD_NOT_FOUND' };
    await expect(session.run('touch made', { cwd: 'missing' })).rejects.toMatchObject(blocked);
    await expect(session.run('true', { cwd: 'missing' })).rejects.toMatchObject(nowhere);
    await expect(session.start('true', { cwd: 'missing' })).rejects.toMatchObject(nowhere);
    await caughtUp();
    expect(updates).toEqual([]);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  it('a person approves: the note is in the result, and the command is shown', async () => {
    const asked: string[] = [];
    const onAsk = ({ command }: { command: string }) => asked.push(command) > 0;
    const { session, text, ended } = await agentWith({ approval: { ask: ['echo:*'], onAsk } });
    await session.run('echo yes');
    await ended();
    expect([asked, text()]).toEqual([['echo yes'], 'yes\n']);
  });

  it('onAfterRun hears runs, and no tasks', async () => {
    const heard: unknown[] = [];
    const onAfterRun = ({ command, result }: { command: string; result: { exitCode: number | null } }) =>
      void heard.push([command, result.exitCode]);
    const { session, ended } = await agentWith({ onAfterRun });
    await session.start('exit 4');
    await ended();
    await session.run('exit 3');
    expect(heard).toEqual([['exit 3', 3]]);
  });
});

describe('terminal/cancel', () => {
  it('ends the tree, and is -32602 for a terminal that has ended, is unknown or is of another session', async () => {
    const { session, updates, cancel, ended } = await agentWith();
    const running = session.run(WITH_CHILD);
    const pid = await pidIn(cwd);
    await until(() => updates.length > 0, 'the terminal is told');
    const [{ terminalId }] = updates;
    const invalid = { code: -32602, data: { code: 'ERR_BASH_INVALID_ARG' } };
    expect(await cancel(terminalId, 'other')).toMatchObject(invalid);
    expect(await cancel('unknown')).toMatchObject(invalid);
    expect(alive(pid)).toBe(true);
    expect(await cancel(terminalId)).not.toBeInstanceOf(Error);
    expect(alive(pid)).toBe(false);
    expect(await running).toMatchObject({ terminalId, status: 'aborted' });
    await ended();
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: null, signal: 'SIGTERM' });
    expect(await cancel(terminalId)).toMatchObject(invalid);
  });

  it('reaches no terminal of another connection', async () => {
    const terminals = experimental_acpAgentTerminals(acp, { cwd });
    const agent = terminals.register(acp.agent()).onRequest('initialize', () => initialized);
    const contexts: acp.AgentContext[] = [];
    agent.onConnect(({ client }) => void contexts.push(client));
    const connect = async () => {
      const connection = acp
        .client()
        .onNotification('session/update', () => {})
        .connect(agent);
      onTestFinished(() => connection.close());
      await connection.agent.request('initialize', initialized);
      return connection.agent;
    };
    const [theirs, other] = [await connect(), await connect()];
    const session = terminals.session(contexts[0] as acp.AgentContext, sessionId);
    const { terminalId, task } = await session.start('sleep 1000');
    const params = { sessionId, terminalId };
    await expect(other.request('terminal/cancel', params)).rejects.toMatchObject({ code: -32602 });
    expect(alive(task.pid)).toBe(true);
    await theirs.request('terminal/cancel', params);
    expect(alive(task.pid)).toBe(false);
  });
});

describe('start', () => {
  it('a task is listed until its end is told', async () => {
    const { session, updates, cancel, text, ended, way } = await agentWith();
    const { terminalId, task } = await session.start('echo up; sleep 1000');
    const listed = [{ type: 'terminal', terminalId }];
    expect(session.background()).toEqual(listed);
    await until(() => text() === 'up\n', 'the output');
    way.pause();
    const cancelled = cancel(terminalId);
    await until(() => !alive(task.pid), 'the task is gone');
    expect(session.background()).toEqual(listed);
    way.resume();
    await cancelled;
    await ended();
    expect(updates[0]).toMatchObject({ terminalId, command: 'echo up; sleep 1000', cwd });
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: 143, signal: 'SIGTERM' });
    await until(() => session.background().length === 0, 'it is listed no more');
  });

  it('a task that ends at once: is told whole, before its exit', async () => {
    const { session, updates, text, ended } = await agentWith();
    await session.start("printf 'é日\\n'; exit 3");
    await ended();
    expect(updates[0].command).toBeDefined();
    expect(text()).toContain('é日\n');
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: 3 });
  });

  it('a cancelled task: its tree ends', async () => {
    const { session, cancel } = await agentWith();
    const { terminalId } = await session.start(WITH_CHILD);
    const pid = await pidIn(cwd);
    await cancel(terminalId);
    expect(alive(pid)).toBe(false);
  });

  it('tasks of a registry of the host: others are not shown', async () => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { session, updates, ended } = await agentWith({ registry });
    await registry.start('echo other');
    const { terminalId, task } = await session.start('echo ours');
    await ended();
    expect(new Set(updates.map((update) => update.terminalId))).toEqual(new Set([terminalId]));
    expect(registry.list().map(({ id }) => id)).toContain(task.id);
  });
});

describe('attach', () => {
  it('shows a terminal from its start, and refuses one that has not started', async () => {
    const { session, updates, text, ended } = await agentWith();
    const pty = new PtySession({ cwd });
    onTestFinished(() => pty.kill());
    const facts = { command: 'echo early; touch wrote; read line; echo got $line', cwd };
    await expect(session.attach(pty, facts)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    expect(updates).toEqual([]);
    await pty.start(facts.command);
    // The output is there before anything else can happen here.
    for (const end = performance.now() + HANG; !existsSync(join(cwd, 'wrote')) && performance.now() < end; );
    const { terminalId } = await session.attach(pty, facts);
    await until(() => text().includes('early'), 'what it writes first');
    await pty.write('this\r');
    await ended();
    expect(text()).toContain('got this');
    expect(updates[0]).toMatchObject({ terminalId, size: { cols: 80, rows: 24 } });
    expect(updates.at(-1).exitStatus).toEqual({ exitCode: 0 });
  });

  it('a cancelled terminal ends, and one whose session closes', async () => {
    const { session, cancel } = await agentWith();
    const ptys = [new PtySession({ cwd }), new PtySession({ cwd })] as const;
    for (const pty of ptys) await pty.start('sleep 1000');
    const [{ terminalId }] = await Promise.all(
      ptys.map((pty) => session.attach(pty, { command: 'sleep 1000', cwd, cols: 100, rows: 30 })),
    );
    await cancel(terminalId);
    expect((await ptys[0].result()).status).toBe('aborted');
    await session.close();
    expect((await ptys[1].result()).status).toBe('aborted');
  });
});

describe('close', () => {
  it('ends what runs, and leaves the tasks of a registry of the host', async () => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { session, updates, caughtUp } = await agentWith({ registry });
    const { task } = await session.start('sleep 1000');
    const running = session.run(WITH_CHILD);
    const pid = await pidIn(cwd);
    await session.close();
    expect((await running).status).toBe('aborted');
    expect(alive(pid)).toBe(false);
    expect(session.background()).toEqual([]);
    expect(registry.list()).toMatchObject([{ id: task.id, state: 'running' }]);
    await registry.kill(task);
    await caughtUp();
    expect(updates.filter(({ exitStatus }) => exitStatus)).toMatchObject([
      { exitStatus: { exitCode: null, signal: 'SIGTERM' } },
    ]);
  });

  it('ends its own tasks, and tells their exit', async () => {
    const { session, updates, caughtUp } = await agentWith();
    const { task } = await session.start('sleep 1000');
    await session.close();
    expect(alive(task.pid)).toBe(false);
    await caughtUp();
    expect(updates.at(-1).exitStatus).toMatchObject({ signal: expect.stringMatching(/^SIG(TERM|KILL)$/) });
  });

  it.each(['run', 'start'] as const)('a held pipe delays no %s, and its holder ends with the session', async (way) => {
    const { session, ended } = await agentWith();
    await settles<unknown>(session[way](HELD_PIPE));
    await ended();
    const pid = await pidIn(cwd);
    if (way === 'run') expect(alive(pid)).toBe(true);
    await session.close();
    expect(alive(pid)).toBe(false);
  });

  it('another session goes on', async () => {
    const { terminals, connection, session } = await agentWith();
    const other = terminals.session(connection.client, 'other');
    const { task } = await other.start('sleep 1000');
    await session.run('setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid');
    const pid = await pidIn(cwd);
    await session.close();
    expect([alive(pid), alive(task.pid)]).toEqual([false, true]);
    await other.close();
    expect(alive(task.pid)).toBe(false);
  });

  it('what a run has left ends with the session, also beside a registry of the host', async () => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { session } = await agentWith({ registry });
    await session.run('nohup sleep 1000 > /dev/null 2>&1 & echo $! > pid');
    const pid = await pidIn(cwd);
    expect(alive(pid)).toBe(true);
    await session.close();
    expect(alive(pid)).toBe(false);
  });

  it('a closed session starts nothing, and its id has new terminals', async () => {
    const { terminals, connection, session } = await agentWith();
    expect(terminals.session(connection.client, sessionId)).toBe(session);
    await session.close();
    await session.close();
    const closed = { code: 'ERR_BASH_CLOSED' };
    await expect(session.run('true')).rejects.toMatchObject(closed);
    await expect(session.start('true')).rejects.toMatchObject(closed);
    const next = terminals.session(connection.client, sessionId);
    expect(await next.run('echo next')).toMatchObject({ stdout: 'next\n' });
    await next.close();
  });

  it('a question is withdrawn, and its command never runs', async () => {
    const asked = Promise.withResolvers<void>();
    const onAsk = () => {
      asked.resolve();
      return new Promise<boolean>(() => {});
    };
    const { session } = await agentWith({ approval: { ask: ['touch:*'], onAsk } });
    const running = session.run('touch made');
    await asked.promise;
    await session.close();
    expect(await running).toMatchObject({ status: 'aborted' });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });
});

describe('a connection closes', () => {
  it('its terminals end, and the tasks of a registry of the host stay', async () => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const { terminals, connection, session, close } = await agentWith({ registry });
    const { task } = await session.start('sleep 1000');
    const running = session.run(WITH_CHILD);
    const pid = await pidIn(cwd);
    close();
    await gone(pid);
    expect((await running).status).toBe('aborted');
    await expect(session.run('true')).rejects.toMatchObject({ code: 'ERR_BASH_CLOSED' });
    expect(() => terminals.session(connection.client, sessionId)).toThrow(
      expect.objectContaining({ code: 'ERR_BASH_CLOSED' }),
    );
    expect(alive(task.pid)).toBe(true);
  });

  it('tasks of the session end', async () => {
    const { session, close } = await agentWith();
    const { task } = await session.start('sleep 1000');
    close();
    await gone(task.pid);
  });
});

it('attach: names what is no terminal, and a size that is none', async () => {
  const { session, updates } = await agentWith();
  const attach = (pty: unknown, more: object) => session.attach(pty as PtySession, { command: 'x', cwd, ...more });
  await expect(attach({}, {})).rejects.toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
  for (const more of [{ cols: 0 }, { rows: Number.NaN }, { command: 5 }, { cwd: 5 }]) {
    await expect(attach(new PtySession({ cwd }), more)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  }
  expect(updates).toEqual([]);
});

describe('a client that reads nothing', () => {
  it('holds a run back, until that is aborted', async () => {
    const { session, way } = await agentWith();
    way.pause();
    const controller = new AbortController();
    const running = session.run('yes', { signal: controller.signal });
    const short = session.run('echo hi', { signal: controller.signal });
    await bash('true');
    controller.abort();
    expect((await settles(running)).status).toBe('aborted');
    expect(await settles(short)).toMatchObject({ terminalId: expect.any(String) });
  });

  it('holds no run back that has reached its limit', async () => {
    const { session, way } = await agentWith();
    way.pause();
    expect((await settles(session.run('yes', { timeoutMs: 200 }))).status).toBe('timed-out');
  });

  it('holds the close of a session with a flood in a terminal not back', async () => {
    const { session, way } = await agentWith();
    const pty = new PtySession({ cwd });
    await pty.start('yes');
    await session.attach(pty, { command: 'yes', cwd });
    way.pause();
    await settles(session.close());
    expect((await settles(pty.result())).pid).toBeGreaterThan(0);
  });

  it('holds no close back', async () => {
    const { session, way } = await agentWith();
    way.pause();
    const running = session.run(`${WITH_CHILD}; yes`);
    const { task } = await session.start('yes');
    const pid = await pidIn(cwd);
    await settles(session.close());
    expect((await settles(running)).status).toBe('aborted');
    expect([alive(pid), alive(task.pid), session.background()]).toEqual([false, false, []]);
  });
});
