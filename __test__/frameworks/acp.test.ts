import { acpTerminals } from 'agent-bash/acp';
import { beforeEach, expect, it } from 'vitest';
import { folder } from '../support/index.ts';
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
  expect((await client.ask('output', id)).exitStatus).toEqual({ exitCode: 130 });
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
