import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type CallToolResult, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import { BASH_INSTRUCTIONS, SESSION_INSTRUCTIONS } from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Program, type Run } from '../../../cli/support.ts';
import { textOf } from '../../../mcp/majors.ts';
import {
  alive,
  folder,
  host,
  mark,
  packageRoot,
  settles,
  sleepers,
  stateFolder,
  until,
} from '../../../support/index.ts';

const PROGRAM = join(packageRoot, 'dist/cli.mjs');

/** The program, as a client starts it. */
async function connected(args: string[] = [], cwd?: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', ...args],
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: stateFolder() },
    ...(cwd && { cwd }),
  });
  const client = new Client({ name: 'client', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: input })) as CallToolResult;
  return { client, transport, call, pid: transport.pid as number };
}

const message = (method: string, params: object, id?: number) =>
  `${JSON.stringify({ jsonrpc: '2.0', method, params, ...(id !== undefined && { id }) })}\n`;

const HELLO =
  message(
    'initialize',
    { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'bare', version: '1' } },
    1,
  ) + message('notifications/initialized', {});

const runs = (command: string, id: number) => message('tools/call', { name: 'bash', arguments: { command } }, id);

/** The program with bare pipes, for what no well-behaved client does. */
function bare(...args: string[]): Run & { write(text: string | Buffer): void } {
  const run = new Program().start(['mcp', ...args], ['pipe', 'pipe', 'pipe']);
  run.child.stdin?.on('error', () => {});
  return { ...run, write: (text) => run.child.stdin?.write(text) };
}

describe('mcp', () => {
  test.each([[[]], [['--session']]])('with %j it sends instructions', async (args: string[]) => {
    const { client } = await connected(args);
    expect(client.getInstructions()).toBe(args.length > 0 ? SESSION_INSTRUCTIONS : BASH_INSTRUCTIONS);
  });

  test('serves the tools in its directory, and gives its name', async () => {
    const cwd = realpathSync(folder());
    const { client, call } = await connected([], cwd);
    expect(client.getServerVersion()).toMatchObject({ name: 'agent-bash', version: expect.stringMatching(/^\d/) });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['bash', 'bash_tasks', 'bash_analyze']);
    const answer = await call('bash', { command: 'pwd; exit 3' });
    expect(textOf(answer)).toBe(`[command failed: exit code 3]\n\n${cwd}`);
  });

  test('takes a directory, a limit, a registry and levels of rules', async () => {
    const [cwd, dir] = [realpathSync(folder()), join(folder(), 'new')];
    const { call } = await connected(['--cwd', cwd, '--timeout', '1s', '--dir', dir, '--rule', 'git-clean=deny']);
    const late = await settles(call('bash', { command: 'pwd; sleep 60' }));
    expect(late.structuredContent).toMatchObject({ status: 'timed-out', timeoutMs: 1_000, stdout: `${cwd}\n` });
    expect(await call('bash', { command: 'git clean -fd' })).toMatchObject({ isError: true });
    await call('bash', { command: 'true', mode: 'background' });
    expect(existsSync(dir)).toBe(true);
    expect((await call('bash_tasks', {})).structuredContent).toMatchObject({ tasks: [{ command: 'true' }] });
  });

  test('refuses what a person would be asked about, and runs it with --on-ask allow', async () => {
    const asked = { command: 'git reset --hard' };
    const cwd = folder();
    expect(await (await connected([], cwd)).call('bash', asked)).toMatchObject({
      isError: true,
      structuredContent: { code: 'ERR_BASH_BLOCKED' },
    });
    const free = await connected(['--on-ask', 'allow'], cwd);
    expect(textOf(await free.call('bash', asked))).toContain('a person would be asked');
  });

  test('refuses a request whose id has no answer yet, and the first can still be cancelled', async () => {
    const seconds = mark();
    const { write, stdout: out } = bare();
    write(HELLO + runs(`sleep ${seconds}`, 7));
    await until(() => sleepers(seconds).length === 1);
    write(runs('echo second', 7));
    await until(() => out().includes('has no answer yet'));
    write(message('notifications/cancelled', { requestId: 7 }));
    await until(() => sleepers(seconds).length === 0);
    expect(out()).not.toContain('second');
  });

  test('has one shell for all with --session, and else a fresh one each', async () => {
    const lasting = await connected(['--session', '--cwd', '/']);
    await lasting.call('bash', { command: 'cd /usr; word=kept' });
    expect((await lasting.call('bash', { command: 'echo $word $PWD' })).structuredContent).toMatchObject({
      stdout: 'kept /usr\n',
      cwd: '/usr',
    });
    const fresh = await connected(['--cwd', '/']);
    await fresh.call('bash', { command: 'cd /usr' });
    expect((await fresh.call('bash', { command: 'pwd' })).structuredContent).toMatchObject({ stdout: '/\n' });
  });

  test('folds repeats, and with a budget leaves out lines that a model can recall', async () => {
    const repeats = { command: 'for n in {1..300}; do echo waiting; done' };
    const build = { command: 'for n in {1..1000}; do echo "compiled module $n in $((n * n * 31 % 997)) ms"; done' };
    expect(textOf(await (await connected()).call('bash', repeats))).toBe('waiting\n[x300]');
    const off = textOf(await (await connected(['--reduce', 'off'])).call('bash', repeats));
    expect(off).toMatch(/^stdout:\nwaiting\nwaiting\n.*\n\nexit code: 0$/s);
    const { call } = await connected(['--budget-tokens', '100']);
    expect(textOf(await call('bash', build))).toMatch(/^\[#1: 1,000 lines whole in .+; recall "1:\d+-\d+"\]$/m);
    expect(textOf(await call('bash', { recall: '1:500' }))).toBe('compiled module 500 in 319 ms\n');
  });

  test.each([
    [['--cwd', '/nowhere'], 1, 'there is no directory /nowhere'],
    [['--rule', 'nonsense=off'], 1, 'there is no rule "nonsense"'],
    [['--rule', 'git-clean'], 2, 'It must be the id of a rule'],
    [['--on-ask', 'perhaps'], 2, 'It must be allow, deny or page.'],
    [['--timeout', 'soon'], 2, 'It must be a time such as'],
    [['--reduce', 'off', '--budget-tokens', '9'], 2, '--budget-tokens is for --reduce salient, not off'],
    [['extra'], 2, 'too many arguments'],
  ])('%j is refused before anything is served', async (args, code, reason) => {
    const ended = await new Program().run('mcp', ...args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(reason);
  });
});

describe('the end of mcp', () => {
  test('when the client closes: all its commands, and the server, and not what runs in the background', async () => {
    const dir = folder();
    const { client, call, pid } = await connected(['--dir', dir]);
    const [foreground, background] = [mark(), mark()];
    await call('bash', { command: `sleep ${background}`, mode: 'background' });
    const answer = call('bash', { command: `setsid sleep ${foreground} & sleep ${foreground}` }).catch(
      (error) => error,
    );
    await until(() => sleepers(foreground).length === 2);
    await client.close();
    expect(await settles(answer)).toBeInstanceOf(Error);
    await until(() => sleepers(foreground).length === 0 && !alive(pid));
    expect(sleepers(background)).toHaveLength(1);
    const program = new Program();
    const [task] = await program.json<{ id: string }[]>('ps', '--dir', dir);
    expect(await program.run('kill', task?.id ?? '', '--dir', dir)).toMatchObject({ code: 0 });
    expect(sleepers(background)).toEqual([]);
  });

  test('when the client is killed', async () => {
    const seconds = mark();
    const client = host(`
      import { Client } from '@modelcontextprotocol/sdk/client/index.js';
      import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
      const transport = new StdioClientTransport({ command: process.execPath, args: [${JSON.stringify(PROGRAM)}, 'mcp'] });
      const client = new Client({ name: 'client', version: '1' });
      await client.connect(transport);
      console.log('server', transport.pid);
      const command = 'trap "" TERM; while :; do echo more; setsid sleep ${seconds} & sleep ${seconds}; done';
      await client.callTool({ name: 'bash', arguments: { command } }, undefined, { onprogress() {} });`);
    const server = Number((await client.says(/server (\d+)/))[1]);
    await until(() => sleepers(seconds).length === 2);
    client.process.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0 && !alive(server));
  });

  test('when it is killed itself', async () => {
    const { call, pid } = await connected();
    const seconds = mark();
    const answer = call('bash', { command: `setsid sleep ${seconds} & sleep ${seconds}` }).catch((error) => error);
    await until(() => sleepers(seconds).length === 2);
    process.kill(pid, 'SIGKILL');
    expect(await settles(answer)).toBeInstanceOf(Error);
    await until(() => sleepers(seconds).length === 0);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('by %s', async (signal, code) => {
    const server = bare();
    const seconds = mark();
    server.write(HELLO + runs(`setsid sleep ${seconds} & sleep ${seconds}`, 2));
    await until(() => sleepers(seconds).length === 2);
    server.child.kill(signal);
    expect(await settles(server.ended)).toMatchObject({ code, stderr: '' });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('when its answers have no reader any more', async () => {
    const server = bare();
    const seconds = mark();
    server.write(HELLO + runs(`sleep ${seconds}`, 2));
    await until(() => sleepers(seconds).length === 1);
    server.child.stdout?.destroy();
    server.write(message('ping', {}, 3));
    expect(await settles(server.ended)).toMatchObject({ code: 141, stderr: '' });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('with no client at all it ends at once', async () => {
    expect(await settles(new Program().run('mcp'))).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('a client that reads nothing is not waited for: its command still ends at its limit', async () => {
    const server = bare('--timeout', '2s');
    const seconds = mark();
    server.child.stdout?.pause();
    const flood = { command: `sleep ${seconds} & while :; do head -c 8000 /dev/zero | tr '\\0' x; echo; done` };
    const call = { name: 'bash', arguments: flood };
    const calls = Array.from({ length: 20 }, (_, id) =>
      message('tools/call', { ...call, _meta: { progressToken: id } }, id + 2),
    );
    server.write(HELLO + calls.join(''));
    await until(() => sleepers(seconds).length > 0);
    await until(() => sleepers(seconds).length === 0, 'the limit', 40_000);
    server.child.stdin?.end();
    server.child.stdout?.destroy();
    await settles(server.ended);
  });
});

describe('on standard input, mcp survives', () => {
  test('garbage, with one remark', async () => {
    const server = bare();
    server.write('garbage\n\n{"a":1}\n[]\nnull\n"text"\n{"jsonrpc":"2.0"}\n');
    server.write(Buffer.from([0xff, 0xfe, 0, 10, 0xc3, 10]));
    server.write('{"jsonrpc":"2.0","id":9,"result":{}}\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n');
    server.write(message('tools/call', { name: 'nonsense', arguments: {} }, 5));
    server.write(message('nonsense', {}, 6));
    server.write(`${'x'.repeat(1_000_000)}\n`);
    server.write(HELLO + runs('echo alive', 7));
    await server.says(/"stdout":"alive\\n"/);
    server.child.stdin?.end();
    const { code, stdout, stderr } = await settles(server.ended);
    expect(code).toBe(0);
    expect(stderr).toBe('agent-bash: what came on standard input was no message of the protocol, and was left out\n');
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  test('no line without an end: it says so and ends', async () => {
    const server = bare();
    const seconds = mark();
    server.write(HELLO + runs(`sleep ${seconds}`, 2));
    await until(() => sleepers(seconds).length === 1);
    server.write(Buffer.alloc(11_000_000, 'x'));
    const { code, stderr } = await settles(server.ended);
    expect(code).toBe(1);
    expect(stderr).toContain('the connection was closed: a message was too long');
    expect(sleepers(seconds)).toEqual([]);
  });

  test('no output of a command reaches standard output by another way', async () => {
    const server = bare();
    server.write(HELLO + runs('echo sneaky > /proc/$PPID/fd/1; echo sneaky >&3; ls -l /proc/self/fd', 2));
    await server.says(/"exitCode":0/);
    for (const line of server.stdout().trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });
});

test('no other command loads the SDK', async () => {
  const loads = async (...args: string[]) => {
    const trace = `import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(\`
        export async function load(url, context, next) {
          if (url.includes('/dist/')) process._rawDebug('LOADS ' + url);
          return next(url, context);
        }\`));`;
    const options = ['--import', `data:text/javascript,${encodeURIComponent(trace)}`];
    const child = spawn(process.execPath, [...options, PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
    await once(child, 'close');
    return [...text.matchAll(/LOADS .*\/dist\/(\S+)/g)].map((match) => match[1] ?? '');
  };
  const sdk = /^mcp-sdk-/;
  expect((await loads('mcp')).filter((file) => sdk.test(file))).toHaveLength(1);
  const others = await loads('check', 'true');
  expect(others).toContain('cli.mjs');
  expect(others.filter((file) => sdk.test(file))).toEqual([]);
});
