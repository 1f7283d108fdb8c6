import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BackgroundRegistry,
  BashSession,
  bash,
  type ConnectOptions,
  connect,
  PtySession,
  type Target,
} from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  alive,
  folder,
  host,
  mark,
  type Place,
  packageRoot,
  place,
  rejection,
  sleepers,
  state,
  until,
} from '../support/index.ts';

/** The program is sent in one test alone, which takes most of its time. */
const PROGRAM = join(packageRoot, 'agent-bash-host');

/** A target, and another one behind it. */
async function chain(options: ConnectOptions = {}): Promise<{ outer: Place; inner: Place }> {
  const outer = await place({ name: 'outer', hostProgram: PROGRAM });
  const { target: via } = outer;
  return { outer, inner: await place({ name: 'inner', via, hostProgram: PROGRAM, ...options }) };
}

/** Waits for the next event of a target. */
const next = (target: Target, event: Parameters<Target['on']>[0]) =>
  new Promise((resolve) => target.on(event, resolve));

describe('a target behind another one', () => {
  test('runs what any target runs', async () => {
    const { outer, inner } = await chain({ hostProgram: undefined });
    const { target, home } = inner;
    expect(target.info).toMatchObject({ home, cwd: home });
    expect(target.info.program.path.startsWith(home)).toBe(true);
    expect(await bash('cd; pwd; cat', { target, stdin: 'given' })).toMatchObject({
      stdout: `${home}\ngiven`,
      target: 'inner',
    });
    await using session = new BashSession({ target });
    await session.run('cd /usr; X=1');
    expect(await session.run('echo $X')).toMatchObject({ stdout: '1\n', cwd: '/usr' });
    const terminal = new PtySession({ target });
    await terminal.start('tty && echo ends');
    expect(await terminal.wait()).toMatchObject({ reason: 'exit', exitCode: 0 });
    await using registry = new BackgroundRegistry({ target });
    const task = await registry.start('echo task');
    expect(await registry.wait(task.id)).toMatchObject({ task: { state: 'exited' }, output: 'task\n' });
    await target.writeFile('a/b', 'text');
    expect(existsSync(join(home, 'a/b'))).toBe(true);
    expect(await bash('echo $HOME', { target: outer.target })).toMatchObject({ stdout: `${outer.home}\n` });
  });

  test('has the id of its own address, and may be behind a further one', async () => {
    const { inner } = await chain();
    const home = folder();
    await using last = await connect({
      ...addressOf(home),
      via: inner.target,
      hostProgram: PROGRAM,
    });
    expect(last.id).toBe('command:env');
    expect(await bash('cd; pwd', { target: last })).toMatchObject({ stdout: `${home}\n` });
  });

  test('passes 5 MB in both directions', async () => {
    const { target, home } = (await chain()).inner;
    const bytes = Buffer.alloc(5_000_000, 'all of it\n');
    await target.writeFile('big', bytes);
    expect(Buffer.compare((await target.readFile('big')) ?? Buffer.alloc(0), bytes)).toBe(0);
    const lines: string[] = [];
    const onOutput = ({ text }: { text: string }) => void lines.push(text);
    const ran = await bash(`cat ${home}/big; exit 3`, { target, onOutput });
    expect(ran).toMatchObject({ exitCode: 3 });
    expect(lines.join('')).toBe(bytes.toString());
  });
});

describe('the way to a target behind another one', () => {
  for (const which of ['outer', 'inner'] as const) {
    test(`is cut with a cut of the ${which} link, which loses nothing`, async () => {
      const places = await chain();
      const { target, home } = places.inner;
      const command = 'echo one; touch began; until [ -e go ]; do sleep 0.01; done; echo two; exit 7';
      const ran = bash(command, { target });
      await until(() => existsSync(join(home, 'began')));
      const { pid } = target.info;
      const cut = next(target, 'disconnected');
      const back = next(target, 'reconnected');
      places[which].cut();
      const reason = which === 'outer' ? expect.stringContaining('outer, through which it leads') : expect.anything();
      expect(await cut).toMatchObject({ target: 'inner', reason });
      const during = bash('echo during', { target });
      writeFileSync(join(home, 'go'), '');
      expect(await ran).toMatchObject({ status: 'exited', exitCode: 7, stdout: 'one\ntwo\n' });
      expect(await during).toMatchObject({ stdout: 'during\n' });
      await back;
      expect(target.info.pid).toBe(pid);
    });
  }

  test('is made again once the outer link is there, however long that takes', async () => {
    const { outer, inner } = await chain();
    const { target } = inner;
    outer.down(true);
    outer.cut();
    await state(target, 'disconnected');
    const waiting = bash('echo waited', { target });
    expect([outer.target.state, target.state]).toStrictEqual(['disconnected', 'disconnected']);
    outer.down(false);
    expect(await waiting).toMatchObject({ stdout: 'waited\n' });
  });

  test('lets the inner program linger by its own lease', async () => {
    const { outer, inner } = await chain({ detachMs: 300, aliveMs: 1_000 });
    const { target } = inner;
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    outer.down(true);
    outer.cut();
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    await until(() => sleepers(seconds).length === 0);
    expect(outer.target.state).toBe('disconnected');
  });

  test('ends with the outer program, and both heal', async () => {
    const { outer, inner } = await chain();
    const { target } = inner;
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    const { pid } = target.info;
    process.kill(outer.target.info.pid, 'SIGKILL');
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    await until(() => sleepers(seconds).length === 0 && !alive(pid));
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
    expect(outer.target.state).toBe('connected');
  });

  test('ends when the outer target is closed', async () => {
    const { outer, inner } = await chain();
    const { target } = inner;
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    const { pid } = target.info;
    await outer.target.close();
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    await until(() => sleepers(seconds).length === 0 && !alive(pid));
    expect(target.state).toBe('lost');
    const message = expect.stringContaining('the target outer, through which it leads, was closed');
    const refused = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'inner', message };
    expect(await rejection(() => bash('true', { target }))).toMatchObject(refused);
    expect(await rejection(() => connect({ ...addressOf(folder()), via: outer.target }))).toMatchObject({
      code: 'ERR_BASH_CLOSED',
      message: 'via: outer was closed',
    });
  });

  test('ends with the inner target alone when that is closed', async () => {
    const { outer, inner } = await chain();
    const { pid } = inner.target.info;
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target: inner.target });
    await until(() => sleepers(seconds).length === 1);
    await inner.target.close();
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => sleepers(seconds).length === 0 && !alive(pid));
    expect(await bash('echo on', { target: outer.target })).toMatchObject({ stdout: 'on\n' });
  });

  test('leaves nothing when the host is killed', async () => {
    const homes = [folder(), folder()];
    const seconds = mark();
    const [outer, inner] = homes.map((home) => JSON.stringify({ ...addressOf(home), hostProgram: PROGRAM }));
    const started = host(`
      import { connect } from 'agent-bash';
      const via = await connect({ ...${outer} });
      const target = await connect({ ...${inner}, via });
      bash('sleep ${seconds}', { target });
      console.log('pids', via.info.pid, target.info.pid);
    `);
    const [, ...pids] = await started.says(/pids (\d+) (\d+)/);
    await until(() => sleepers(seconds).length === 1);
    process.kill(started.pid, 'SIGKILL');
    await until(() => sleepers(seconds).length === 0 && !pids.some((pid) => alive(Number(pid))));
  });
});

describe('a target that cannot be reached through another one', () => {
  test('says so with the name of the other one', async () => {
    const { target: via, cut, down } = await place({ name: 'outer', detachMs: 300, hostProgram: PROGRAM });
    down(true);
    cut();
    await state(via, 'lost');
    expect(await rejection(() => connect({ ...addressOf(folder()), name: 'inner', via }))).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'unreachable',
      target: 'inner',
      message: expect.stringContaining('the target outer, through which it leads, cannot be used'),
    });
    down(false);
    await using target = await connect({ ...addressOf(folder()), via, hostProgram: PROGRAM });
    expect(target.state).toBe('connected');
  });

  test.each([
    [['no-such-program'], 'unreachable', 'cannot be started: no-such-program'],
    [['bash', '-c', 'echo "go away" >&2; exit 3'], 'shell', 'go away'],
    [['yes', '--'], 'shell', 'printed more than'],
    [['head', '-c', '10000', '/dev/zero'], 'shell', ''],
  ])('as by %j says what its transport says there', async (command, reason, message) => {
    const { target: via } = await place({ name: 'outer', hostProgram: PROGRAM });
    const failed = await rejection(() => connect({ command, via, connectTimeoutMs: 5_000 }));
    expect(failed).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(message) });
    expect(await bash('echo on', { target: via })).toMatchObject({ stdout: 'on\n' });
  });

  test('is refused with anything but a target', async () => {
    for (const via of [{}, 'outer', null, new Proxy({}, {})]) {
      // @ts-expect-error no target
      const failed = await rejection(() => connect({ ...addressOf(folder()), via }));
      expect(failed).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringMatching(/^via: /) });
    }
  });

  test('is given up when its connection is', async () => {
    const { target: via } = await place({ name: 'outer', hostProgram: PROGRAM });
    const seconds = mark();
    const abort = new AbortController();
    const given = rejection(() => connect({ command: ['bash', '-c', `sleep ${seconds}`], via, signal: abort.signal }));
    await until(() => sleepers(seconds).length >= 1);
    abort.abort();
    expect(await given).toMatchObject({ code: 'ABORT_ERR' });
    await until(() => sleepers(seconds).length === 0);
  });
});
