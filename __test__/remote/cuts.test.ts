import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, connect, PtySession, type TargetEvent } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  alive,
  cutLink,
  finished,
  folder,
  mark,
  place,
  rejection,
  SOON,
  sleepers,
  state,
  until,
} from '../support/index.ts';

describe('a cut', () => {
  test('loses nothing of a command that runs on', async () => {
    const { target, home, cut, down } = await place();
    let text = '';
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
    };
    const command = 'echo one; touch began; until [ -e go ]; do sleep 0.01; done; echo two; exit 7';
    const ran = bash(command, { target, onOutput });
    await until(() => existsSync(join(home, 'began')) && text === 'one\n');
    down(true);
    cut();
    await state(target, 'disconnected');
    writeFileSync(join(home, 'go'), '');
    down(false);
    const result = await ran;
    expect(result).toMatchObject({ status: 'exited', exitCode: 7, stdout: 'one\ntwo\n', target: 'there' });
    expect(result.notes.join('\n')).toContain('cut');
    expect(text).toBe('one\ntwo\n');
    expect(target.state).toBe('connected');
  });

  test('leaves a program that is itself what the transport has become, in a group of its own', async () => {
    const home = folder();
    // `env` becomes the shell, and that the program.
    const target = await connect({ command: addressOf(home).command.slice(0, -4) });
    finished(() => target.close());
    const { pid } = target.info;
    const ran = bash('touch began; until [ -e go ]; do sleep 0.01; done; exit 7', { target });
    await until(() => existsSync(join(home, 'began')));
    const back = new Promise((resolve) => target.on('reconnected', resolve));
    cutLink(home);
    await back;
    writeFileSync(join(home, 'go'), '');
    expect(await ran).toMatchObject({ status: 'exited', exitCode: 7 });
    expect(target.info.pid).toBe(pid);
    await target.close();
    await until(() => !alive(pid));
  });

  test('lets calls wait, and each runs once', async () => {
    const { target, home, cut, down } = await place();
    down(true);
    cut();
    await state(target, 'disconnected');
    const abort = new AbortController();
    const waiting = [1, 2, 3].map((n) => bash(`echo ${n} >> log`, { target }));
    const never = bash('echo never >> log', { target, signal: abort.signal });
    abort.abort();
    expect(await never).toMatchObject({ status: 'aborted', pid: 0, target: 'there' });
    down(false);
    for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(home, 'log'), 'utf8').split('\n').toSorted()).toStrictEqual(['', '1', '2', '3']);
  });

  test('ends all there with the lease, and the target heals', async () => {
    const { target, cut, down } = await place({ detachMs: SOON });
    const seconds = mark();
    let text = '';
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
    };
    const ran = bash(`echo out; sleep ${seconds}`, { target, onOutput });
    await until(() => sleepers(seconds).length === 1 && text !== '');
    const { pid } = target.info;
    down(true);
    cut();
    const result = await ran;
    expect(result).toMatchObject({ status: 'lost', exitCode: null, signal: null, stdout: 'out\n', target: 'there' });
    expect(result.notes).toContainEqual(expect.stringMatching(/^the command is lost: /));
    expect(target.state).toBe('lost');
    await until(() => sleepers(seconds).length === 0);
    expect(await rejection(() => bash('true', { target }))).toMatchObject({ code: 'ERR_BASH_TARGET', target: 'there' });
    down(false);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n', status: 'exited' });
    expect(target.state).toBe('connected');
    expect(target.info.pid).not.toBe(pid);
  });

  test('whose lease ends refuses calls that had not begun', async () => {
    const { target, home, cut, down } = await place({ detachMs: SOON });
    await using session = new BashSession({ target });
    await session.run('cd /usr');
    down(true);
    cut();
    await state(target, 'disconnected');
    const calls = [() => bash('touch ran', { target }), () => session.run('touch ran'), () => target.stat('ran')];
    const lost = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'there' };
    expect(await Promise.all(calls.map(rejection))).toMatchObject(calls.map(() => lost));
    expect(target.state).toBe('lost');
    down(false);
    expect(await session.run('pwd')).toMatchObject({ stdout: '/usr\n' });
    expect(existsSync(join(home, 'ran'))).toBe(false);
  });

  test('whose lease ends refuses tasks and terminals that had not begun', async () => {
    const { target, home, cut, down } = await place({ detachMs: SOON });
    await using registry = new BackgroundRegistry({ target });
    down(true);
    cut();
    await state(target, 'disconnected');
    const calls = [
      () => registry.start('touch ran'),
      () => registry.refresh(),
      () => bash('touch ran', { target, mode: 'background' }),
      () => new PtySession({ target }).start('touch ran'),
    ];
    const lost = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'there' };
    expect(await Promise.all(calls.map(rejection))).toMatchObject(calls.map(() => lost));
    expect(existsSync(join(home, 'ran'))).toBe(false);
  });

  test('whose lease ends refuses what had never left this machine', async () => {
    const { target, home, freeze } = await place({ detachMs: SOON, aliveMs: 1_000 + SOON });
    freeze();
    // It fills the pipe, so that the later calls stay here though no cut is seen yet.
    const sent = bash('cat', { target, stdin: 'x'.repeat(4_000_000) });
    const calls = [() => bash('touch ran', { target }), () => target.stat('ran')];
    const never = calls.map(rejection);
    expect(target.state).toBe('connected');
    const lost = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'there' };
    expect(await Promise.all(never)).toMatchObject(calls.map(() => lost));
    expect(await sent).toMatchObject({ status: 'lost', exitCode: null });
    expect(existsSync(join(home, 'ran'))).toBe(false);
  });

  test('refuses calls that had not begun when the target is closed', async () => {
    const { target, cut, down } = await place();
    down(true);
    cut();
    await state(target, 'disconnected');
    const never = rejection(() => bash('true', { target }));
    await target.close();
    const message = expect.stringContaining('nothing was started: the target was closed');
    expect(await never).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'lost', target: 'there', message });
  });

  test('whose program is gone loses what ran', async () => {
    const { target } = await place();
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    process.kill(target.info.pid, 'SIGKILL');
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    await until(() => sleepers(seconds).length === 0);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  test('makes a command lost when the target is closed', async () => {
    const { target } = await place();
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    await target.close();
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => sleepers(seconds).length === 0);
  });

  test('whose program is gone leaves a session its directory', async () => {
    const { target } = await place();
    await using session = new BashSession({ target });
    await session.run('cd /usr; X=1');
    const lost = new Promise((resolve) => target.on('lost', resolve));
    process.kill(target.info.pid, 'SIGKILL');
    await lost;
    const first = await session.run('echo "[$X]"; pwd');
    expect(first).toMatchObject({ stdout: '[]\n/usr\n', cwd: '/usr' });
    expect(first.notes).toStrictEqual([expect.stringMatching(/^the state of the session is gone/)]);
    const second = await session.run('cd lib; X=2');
    expect(second).toMatchObject({ cwd: '/usr/lib', notes: [] });
    expect((await session.run('echo $X')).stdout).toBe('2\n');
  });

  test('leaves a session as it was', async () => {
    const { target, home, cut } = await place();
    await using session = new BashSession({ target });
    await session.run('cd /usr; X=1');
    cut();
    expect(await session.run('echo $X')).toMatchObject({ stdout: '1\n', cwd: '/usr' });
    expect(home).toBe(target.info.home);
  });
});

describe('the events of a target', () => {
  test('tell of each change, and the channel, too', async () => {
    const published: unknown[] = [];
    const onMessage = (event: unknown) => void published.push(event);
    subscribe('agent-bash:target', onMessage);
    finished(() => void unsubscribe('agent-bash:target', onMessage));
    const { target, cut } = await place();
    const heard: [string, TargetEvent][] = [];
    for (const name of ['disconnected', 'reconnected', 'lost', 'closed'] as const) {
      target.on(name, (event) => void heard.push([name, event]));
    }
    const never = () => expect.fail('it was removed');
    target.on('disconnected', never).off('disconnected', never);
    cut();
    await until(() => heard.length === 2);
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    process.kill(target.info.pid, 'SIGKILL');
    const { runId } = await ran;
    await until(() => heard.length === 4);
    await bash('true', { target });
    await target.close();
    await until(() => heard.length === 5);
    const event = { target: 'there', at: expect.any(Number), reason: expect.any(String), downMs: null, lost: [] };
    const down = { ...event, downMs: expect.any(Number) };
    expect(heard).toStrictEqual([
      ['disconnected', down],
      ['reconnected', { ...down, reason: '' }],
      ['disconnected', down],
      ['lost', { ...down, lost: [runId] }],
      ['closed', event],
    ]);
    expect(published).toMatchObject([
      { state: 'connected', target: 'there' },
      { state: 'disconnected' },
      { state: 'reconnected' },
      { state: 'disconnected' },
      { state: 'lost', lost: [runId] },
      { state: 'connected' },
      { state: 'closed' },
    ]);
  });

  test('have listeners whose failure is a warning', async () => {
    const { target } = await place();
    // @ts-expect-error there is no such event
    expect(() => target.on('connect', () => {})).toThrow('event: "connect" is not one of');
    // @ts-expect-error a text is no listener
    expect(() => target.on('lost', 'x')).toThrow('listener: "x" is not a function');
    const warned = new Promise<Error & { code?: string }>((resolve) => process.once('warning', resolve));
    target.on('closed', () => {
      throw new Error('mine');
    });
    await target.close();
    expect(await warned).toMatchObject({ code: 'AGENT_BASH_LISTENER', message: 'a listener of a target failed: mine' });
  });

  test('and the channels of runs have its name', async () => {
    const published: Record<string, unknown>[] = [];
    const onMessage = (event: unknown) => void published.push(event as Record<string, unknown>);
    for (const name of ['call', 'start', 'exit', 'return']) subscribe(`agent-bash:${name}`, onMessage);
    finished(() => {
      for (const name of ['call', 'start', 'exit', 'return']) unsubscribe(`agent-bash:${name}`, onMessage);
    });
    const { target } = await place();
    await bash('true', { target });
    await bash('true');
    expect(published.map(({ target: name }) => name)).toStrictEqual([
      ...Array(4).fill('there'),
      ...Array(4).fill(null),
    ]);
  });
});
