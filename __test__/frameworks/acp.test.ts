import { acpTerminals, experimental_acpAgentTerminals } from 'agent-bash/acp';
import { beforeEach, expect, it } from 'vitest';
import { alive, folder, settles, until } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

class RequestError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}
const acp = { RequestError };

/** A client app with one connection, and the agent at its other end. */
class Client {
  readonly #handlers = new Map<string, (request: object) => Promise<never>>();
  readonly #agent = { cx: {} };
  close: () => void = () => {};

  onRequest(method: string, handler: (request: never) => Promise<unknown>): this {
    this.#handlers.set(method, handler as never);
    return this;
  }

  onConnect(handler: (connection: { agent: object; closed: Promise<void> }) => void): this {
    const closed = new Promise<void>((resolve) => {
      this.close = resolve;
    });
    handler({ agent: this.#agent, closed });
    return this;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the answers of the wire
  async ask(method: string, params: object, signal = new AbortController().signal): Promise<any> {
    const handler = this.#handlers.get(`terminal/${method}`);
    return handler?.({ params: { sessionId: 's', ...params }, signal, agent: { ...this.#agent } });
  }

  /** Runs a command to its end. */
  async run(params: object): Promise<{ output: string; truncated: boolean; exitStatus: object }> {
    const id = await this.ask('create', params);
    await this.ask('wait_for_exit', id);
    const output = await this.ask('output', id);
    await this.ask('release', id);
    return output;
  }
}

let cwd: string;
beforeEach(() => {
  cwd = folder();
});

const clientWith = (options: Parameters<typeof acpTerminals>[1] = {}) =>
  acpTerminals(acp, { cwd, ...options }).register(new Client());

it('a command has its output and its real exit', async () => {
  const client = clientWith();
  const output = 'out\nerr\n';
  expect(await client.run({ command: 'echo out; echo err >&2; exit 3' })).toEqual({
    output,
    truncated: false,
    exitStatus: { exitCode: 3 },
  });
  const { exitStatus } = await client.run({ command: 'kill -9 $$' });
  expect(exitStatus).toEqual({ exitCode: null, signal: 'SIGKILL' });
});

it('a program gets its words unchanged, and variables', async () => {
  const args = ['-c', 'printf "%s|" "$@" "$V"', '_', "it's", 'a b', '$HOME', ''];
  const env = [{ name: 'V', value: 'v w' }];
  expect((await clientWith().run({ command: 'bash', args, env })).output).toBe("it's|a b|$HOME||v w|");
});

it('the end of the output is kept, in whole characters', async () => {
  expect(await clientWith().run({ command: "printf 'abcdé日本'", outputByteLimit: 7 })).toEqual({
    output: '日本',
    truncated: true,
    exitStatus: { exitCode: 0 },
  });
});

it('kill ends the tree, and the terminal stays until it is released', async () => {
  const client = clientWith();
  const id = await client.ask('create', { command: WITH_CHILD });
  const pid = await pidIn(cwd);
  await client.ask('kill', id);
  await gone(pid);
  expect((await client.ask('output', id)).exitStatus).toEqual({ exitCode: null, signal: 'SIGTERM' });
  await client.ask('release', id);
  await expect(client.ask('output', id)).rejects.toMatchObject({ code: -32002 });
});

it('what a command has left ends with its terminal, and a held pipe delays nothing', async () => {
  const client = clientWith();
  const id = await client.ask('create', { command: HELD_PIPE });
  expect(await client.ask('wait_for_exit', id)).toEqual({ exitCode: 0 });
  const pid = await pidIn(cwd);
  await client.ask('release', id);
  await gone(pid);
});

it('the end of the connection ends its terminals', async () => {
  const client = clientWith();
  await client.ask('create', { command: WITH_CHILD });
  const pid = await pidIn(cwd);
  client.close();
  await gone(pid);
});

it.each([
  { command: 5 },
  { command: 'true', args: 'x' },
  { command: 'true', args: [1] },
  { command: 'true', env: 'x' },
  { command: 'true', env: [null] },
  { command: 'true', env: [{ name: 'A', value: 1 }] },
  { command: 'true', cwd: 5 },
  { command: 'true', cwd: 'relative' },
  { command: 'true', outputByteLimit: 'x' },
  { command: 'true', outputByteLimit: -1 },
])('params of another kind are an error of the protocol: %j', async (params) => {
  await expect(clientWith().ask('create', params)).rejects.toMatchObject({ code: -32602 });
});

it('errors are those of the protocol', async () => {
  const client = clientWith({ approval: { deny: ['echo denied'] } });
  const code = (params: object) => client.ask('create', params).catch((error) => [error.code, error.data.code]);
  expect(await code({ command: 'echo denied' })).toEqual([-32010, 'ERR_BASH_BLOCKED']);
  expect(await code({ command: 'rm', args: ['-rf', '/'] })).toEqual([-32010, 'ERR_BASH_BLOCKED']);
  expect(await code({ command: 'true', cwd: 'relative' })).toEqual([-32602, 'ERR_BASH_INVALID_ARG']);
  expect(await code({ command: 'true', cwd: `${cwd}/missing` })).toEqual([-32602, 'ERR_BASH_CWD_NOT_FOUND']);
  await expect(client.ask('kill', { terminalId: 'no' })).rejects.toBeInstanceOf(RequestError);
});

it('wrong arguments are refused at once', () => {
  refuses(() => acpTerminals({} as never), 'ERR_BASH_UNSUPPORTED', /acp\.RequestError .* @agentclientprotocol\/sdk/);
  refuses(
    () => acpTerminals(acp, { confined: 'workspace' } as never),
    'ERR_BASH_INVALID_ARG',
    'did you mean "confine"',
  );
  refuses(() => acpTerminals(acp).register({}), 'ERR_BASH_UNSUPPORTED', 'app.onRequest');
});

/** The context of a client that is told of an agent's terminals. */
class Told {
  // biome-ignore lint/suspicious/noExplicitAny: the updates of the wire
  readonly updates: any[] = [];
  readonly #notify: () => Promise<void>;

  constructor(notify = async () => {}) {
    this.#notify = notify;
  }

  notify(method: string, { sessionId, update }: { sessionId?: string; update?: object }): Promise<void> {
    expect([method, sessionId]).toEqual(['session/update', 's']);
    this.updates.push(update);
    return this.#notify();
  }
}

const agentTerminals = (options: Parameters<typeof experimental_acpAgentTerminals>[1] = {}) =>
  experimental_acpAgentTerminals(acp, { cwd, ...options });

it('an agent tells of a command: what runs, its output, its exit', async () => {
  const client = new Told();
  const session = agentTerminals().session(client, 's');
  const { terminalId, exitCode } = await session.run("printf 'é日'; exit 3");
  expect(exitCode).toBe(3);
  const update = { sessionUpdate: 'terminal_update', terminalId };
  expect(client.updates).toEqual([
    { ...update, command: "printf 'é日'; exit 3", cwd, capabilities: { cancel: {} } },
    { sessionUpdate: 'terminal_output_chunk', terminalId, data: Buffer.from('é日').toString('base64') },
    { ...update, exitStatus: { exitCode: 3 }, capabilities: null },
  ]);
  await session.close();
});

it('a client that takes no update holds nothing back for ever', async () => {
  for (const notify of [() => Promise.reject(new Error('gone')), () => new Promise<void>(() => {})]) {
    const session = agentTerminals().session(new Told(notify), 's');
    const running = session.run('echo hi');
    const { task } = await session.start('sleep 1000');
    await settles(session.close());
    expect((await settles(running)).terminalId).toEqual(expect.any(String));
    expect(alive(task.pid)).toBe(false);
    await expect(session.run('true')).rejects.toMatchObject({ code: 'ERR_BASH_CLOSED' });
  }
});

/** Returns terminals of an agent, and their handler of `terminal/cancel`. */
function cancellable(options?: Parameters<typeof experimental_acpAgentTerminals>[1]) {
  const terminals = agentTerminals(options);
  const handlers = new Map<string, (request: object) => Promise<object>>();
  const app = {
    onRequest: (method: string, handler: (request: object) => Promise<object>) => handlers.set(method, handler),
    onConnect: () => {},
  };
  expect(terminals.register(app)).toBe(app);
  return { terminals, cancel: handlers.get('terminal/cancel') };
}

it('a command that has ended cannot be cancelled, even if nothing of it is told', async () => {
  let ended = false;
  const onAfterRun = () => {
    ended = true;
  };
  const { terminals, cancel } = cancellable({ onAfterRun });
  const client = new Told(() => new Promise(() => {}));
  const session = terminals.session(client, 's');
  const running = session.run('true');
  await until(() => ended && client.updates.length > 0, 'the command has ended');
  const params = { sessionId: 's', terminalId: client.updates[0].terminalId };
  await until(
    () =>
      cancel?.({ params, client }).then(
        () => false,
        ({ code }) => code === -32602,
      ),
    'it cannot be cancelled',
  );
  await session.close();
  await running;
});

it('terminal/cancel ends the tree of a task, whose end is told before it is listed no more', async () => {
  const { terminals, cancel } = cancellable();
  const client = new Told();
  const session = terminals.session(client, 's');
  const { terminalId } = await session.start(WITH_CHILD);
  const pid = await pidIn(cwd);
  const ask = (params: object) => cancel?.({ params: { sessionId: 's', terminalId, ...params }, client });
  await expect(ask({ sessionId: 'other' })).rejects.toMatchObject({ code: -32602 });
  expect(session.background()).toEqual([{ type: 'terminal', terminalId }]);
  expect(await ask({})).toEqual({});
  expect(alive(pid)).toBe(false);
  await until(() => session.background().length === 0, 'the task is listed no more');
  expect(client.updates.at(-1)).toMatchObject({ exitStatus: { signal: 'SIGTERM' } });
  await expect(ask({})).rejects.toMatchObject({ code: -32602, data: { code: 'ERR_BASH_INVALID_ARG' } });
  await session.close();
});

it('wrong arguments for terminals of an agent are refused', async () => {
  refuses(() => experimental_acpAgentTerminals({} as never), 'ERR_BASH_UNSUPPORTED', /acp\.RequestError/);
  refuses(() => agentTerminals({ confined: 'workspace' } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "confine"');
  refuses(() => agentTerminals().register({}), 'ERR_BASH_UNSUPPORTED', 'app.onRequest');
  refuses(() => agentTerminals().session({} as never, 's'), 'ERR_BASH_UNSUPPORTED', 'client.notify');
  refuses(() => agentTerminals().session(new Told(), 1 as never), 'ERR_BASH_INVALID_ARG', 'sessionId');
  const session = agentTerminals().session(new Told(), 's');
  await expect(session.run('true', { timeout: 5 } as never)).rejects.toMatchObject({
    code: 'ERR_BASH_INVALID_ARG',
    message: expect.stringContaining('timeoutMs'),
  });
});
