import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BackgroundRegistry, BashSession, bash, type ObservedCall, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rejection } from '../support/index.ts';
import { listen } from './support.ts';

function registryOf(): BackgroundRegistry {
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  return registry;
}

function sessionOf(...given: ConstructorParameters<typeof BashSession>): BashSession {
  const session = new BashSession(...given);
  onTestFinished(() => session.close());
  return session;
}

/** Adds these variables to each command until the test ends. */
function adding(env: ObservedCall['env']): void {
  const listener = (message: unknown) => void Object.assign((message as ObservedCall).env, env);
  subscribe('agent-bash:call', listener);
  onTestFinished(() => void unsubscribe('agent-bash:call', listener));
}

/** Each way to start a command, with its output at its exit. */
const WAYS: [way: string, kind: string, start: (command: string) => Promise<string>][] = [
  ['bash', 'command', async (command) => (await bash(command)).stdout],
  ['a session', 'session', async (command) => (await sessionOf().run(command)).stdout],
  [
    'a terminal',
    'terminal',
    async (command) => {
      const terminal = new PtySession();
      await terminal.start(command);
      return (await terminal.result()).stdout;
    },
  ],
  [
    'a registry',
    'task',
    async (command) => {
      const registry = registryOf();
      return (await registry.wait((await registry.start(command)).id)).output;
    },
  ],
  [
    'mode background',
    'task',
    async (command) => {
      const registry = registryOf();
      const { background } = await bash(command, { mode: 'background', registry });
      return (await registry.wait(background?.id as string)).output;
    },
  ],
];

describe.each(WAYS)('%s', (_way, kind, start) => {
  test('a call is published while it is made, in the context of its caller', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: [unknown, unknown][] = [];
    const listener = (message: unknown) => void seen.push([(message as ObservedCall).command, context.getStore()]);
    subscribe('agent-bash:call', listener);
    onTestFinished(() => void unsubscribe('agent-bash:call', listener));
    await Promise.all(['one', 'two'].map((name) => context.run(name, () => start(`echo ${name}`))));
    expect(seen.sort()).toEqual([
      ['echo one', 'one'],
      ['echo two', 'two'],
    ]);
  });

  test('each call returns once, after the exit of its run', async () => {
    const { told, hears } = listen('call', 'start', 'exit', 'return');
    await start('exit 3');
    await hears('exit');
    await hears('return');
    const [call] = told;
    const asked = { command: 'exit 3', args: [], actor: null, target: null, env: {} };
    expect(call).toEqual({ name: 'call', id: call?.id, kind, ...asked });
    const returned = told.filter(({ name }) => name === 'return');
    expect(returned).toEqual([expect.objectContaining({ id: call?.id, kind, pid: expect.any(Number), code: null })]);
    const exit = told.find(({ name }) => name === 'exit');
    expect(returned[0]?.pid).toBe(exit?.pid);
    if (kind === 'task') expect(returned[0]).toMatchObject({ status: 'backgrounded', taskId: exit?.id });
    else {
      expect(returned[0]).toMatchObject({ status: 'exited', taskId: null });
      expect(told.map(({ name }) => name)).toEqual(['call', 'start', 'exit', 'return']);
    }
  });

  test('the command gets the variables that a subscriber adds', async () => {
    adding({ ADDED: 'yes', HOME: null });
    expect(await start('echo "${ADDED-no} ${HOME-gone}"')).toContain('yes gone\n');
  });
});

test('a call that rejects returns with the code of its error, and that of an aborted one with its status', async () => {
  const { of } = listen('call', 'return');
  await rejection(() => bash('true', { cwd: '/no/such/folder' }));
  await rejection(() => bash('git push --force'));
  await rejection(() => registryOf().start('true', { shell: '/no/such/shell' }));
  await rejection(() => new PtySession({ cwd: '/no/such/folder' }).start('true'));
  await bash('true', { signal: AbortSignal.abort() });
  expect(of('call')).toHaveLength(5);
  expect(of('return').map(({ status, code, pid }) => [status, code, pid])).toEqual([
    [null, 'ERR_BASH_CWD_NOT_FOUND', 0],
    [null, 'ERR_BASH_BLOCKED', 0],
    [null, 'ERR_BASH_SHELL_NOT_FOUND', 0],
    [null, 'ERR_BASH_CWD_NOT_FOUND', 0],
    ['aborted', null, 0],
  ]);
  expect(of('return').map(({ id }) => id)).toEqual(of('call').map(({ id }) => id));
});

test('a command of a session that waits for its turn has made its call, and returns when the session is closed', async () => {
  const { of } = listen('call', 'return');
  const session = sessionOf();
  const runs = Promise.allSettled([session.run('sleep 300'), session.run('true')]);
  expect(of('call').map(({ command }) => command)).toEqual(['sleep 300', 'true']);
  await session.close();
  await runs;
  expect(of('return').map(({ status, code }) => [status, code])).toEqual(
    expect.arrayContaining([
      ['aborted', null],
      [null, 'ERR_BASH_CLOSED'],
    ]),
  );
});

test('variables of a subscriber apply to one command of a session alone', async () => {
  const session = sessionOf();
  const listener = (message: unknown) => {
    const { env, command } = message as ObservedCall;
    if (command === 'first') env.ADDED = 'yes';
  };
  subscribe('agent-bash:call', listener);
  onTestFinished(() => void unsubscribe('agent-bash:call', listener));
  await session.run('first() { :; }');
  expect((await session.run('first')).exitCode).toBe(0);
  expect((await session.run('echo "${ADDED-no}"')).stdout).toBe('no\n');
});

test('a call that speaks of a variable gets none from subscribers', async () => {
  adding({ TRACEPARENT: 'theirs', OTHER: 'theirs' });
  const command = 'echo "${TRACEPARENT-none} ${OTHER-none}"';
  const out = async (options: object) => (await bash(command, options)).stdout;
  expect(await out({})).toBe('theirs theirs\n');
  expect(await out({ env: { MORE: '1' } })).toBe('theirs theirs\n');
  expect(await out({ env: { TRACEPARENT: 'own' } })).toBe('own none\n');
  expect(await out({ env: { TRACEPARENT: null } })).toBe('none none\n');
  expect(await out({ env: { OTHER: undefined } })).toBe('none none\n');
  const session = sessionOf({ env: { TRACEPARENT: 'of the session' } });
  expect((await session.run(command)).stdout).toBe('of the session none\n');
});
