import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BackgroundRegistry,
  BashSession,
  bash,
  connect,
  type ProvidedTarget,
  PtySession,
  type Target,
  TargetPool,
  type TargetPoolOptions,
  warmUp,
} from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  alive,
  finished,
  folder,
  host,
  kill,
  mark,
  packageRoot,
  place,
  rejection,
  sleepers,
  state,
  until,
} from '../support/index.ts';

/** The program is not sent to each machine of each test, which takes most of their time. */
const PROGRAM = join(packageRoot, 'agent-bash-host');

/** Machines of a pool, on this one, with homes of their own. */
function machines(...names: string[]) {
  return names.map((name) => ({ ...addressOf(folder()), name, hostProgram: PROGRAM }));
}

/** A pool that is closed after the test. */
function pool(options: TargetPoolOptions): TargetPool {
  const made = new TargetPool(options);
  finished(() => made.close());
  return made;
}

/** Takes a place, and tells its name and how to give it back. */
async function held(from: TargetPool, affinity?: string) {
  const { target, release } = await from.acquire({ affinity });
  return { id: target.id, target, release };
}

/** Kills the host program of a target. */
function killProgram(target: Target): void {
  kill(target.info.pid, 'SIGKILL');
}

/** Places that a provider makes: machines on this one. */
function provider(given: Partial<ProvidedTarget> = {}) {
  const acquired: (string | null)[] = [];
  const released: [string, boolean][] = [];
  const acquire = async ({ affinity }: { affinity: string | null }): Promise<ProvidedTarget> => {
    acquired.push(affinity);
    return {
      id: `made-${acquired.length}`,
      address: { ...addressOf(folder()), hostProgram: PROGRAM },
      expiresAt: null,
      ...given,
    };
  };
  const release = async (id: string, { broken }: { broken: boolean }) => {
    released.push([id, broken]);
  };
  return { acquired, released, provider: { acquire, release } };
}

describe('a pool', () => {
  test('runs commands where the fewest run, and connects a machine when one is placed there', async () => {
    const fleet = pool({ targets: machines('a', 'b', 'c') });
    expect(fleet.stats().map(({ id, state }) => [id, state])).toStrictEqual([
      ['a', 'new'],
      ['b', 'new'],
      ['c', 'new'],
    ]);
    const first = await bash('echo hi', { target: fleet });
    expect(first).toMatchObject({ stdout: 'hi\n', exitCode: 0, target: 'a', notes: [] });
    const places = await Promise.all([held(fleet), held(fleet), held(fleet)]);
    expect(places.map(({ id }) => id).sort()).toStrictEqual(['a', 'b', 'c']);
    expect(fleet.stats()[0]).toStrictEqual({
      id: 'a',
      state: 'connected',
      running: 1,
      queued: 0,
      load: expect.any(Number),
      memoryFree: expect.toSatisfy((free: number) => free > 1_000_000),
      brokenUntil: null,
    });
    for (const { release } of places) {
      release();
      release();
    }
    expect(fleet.stats().map(({ running }) => running)).toStrictEqual([0, 0, 0]);
  });

  test('runs the calls of an affinity where their files are', async () => {
    const fleet = pool({ targets: machines('a', 'b') });
    const names = ['one', 'two', 'three', 'four'];
    await Promise.all(names.map((name) => bash(`echo ${name} > ${name}`, { target: fleet, affinity: name })));
    const read = names.map((name) => bash(`cat ${name}`, { target: fleet, affinity: name }));
    const results = await Promise.all(read);
    expect(new Set(results.map(({ target }) => target))).toStrictEqual(new Set(['a', 'b']));
    expect(results.map(({ stdout }) => stdout.trim())).toStrictEqual(names);
  });

  test('lets calls wait in its order when all places are full, and their time limits begin with them', async () => {
    const fleet = pool({ targets: machines('a'), perTarget: 1 });
    const order: number[] = [];
    const runs = [1, 2, 3].map(async (index) => {
      const result = await bash('sleep 0.4', { target: fleet, timeoutMs: 5_000 });
      order.push(index);
      return result.timeoutMs;
    });
    await until(() => fleet.stats()[0]?.queued === 2);
    expect(await Promise.all(runs)).toStrictEqual([5_000, 5_000, 5_000]);
    expect(order).toStrictEqual([1, 2, 3]);
  });

  test('rejects with `timeout` when no place was free in time, and says why', async () => {
    const fleet = pool({ targets: [(await place()).target], perTarget: 1, queueMs: 300 });
    const { release } = await held(fleet);
    expect(await rejection(() => bash('true', { target: fleet }))).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'timeout',
      message: expect.stringContaining('no place was free within 300 ms'),
    });
    release();
    const broken = pool({ targets: [{ command: ['false'], name: 'broken' }], queueMs: 500 });
    const error = await rejection(() => bash('true', { target: broken }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
    expect(error.message).toContain('broken');
    expect(broken.stats()[0]?.brokenUntil).toBeGreaterThan(Date.now() + 3_000);
  });

  test('settles a call that is aborted while it waits, without a start', async () => {
    const fleet = pool({ targets: machines('a'), perTarget: 1 });
    const { release } = await held(fleet);
    const given = new AbortController();
    const ran = bash('touch file', { target: fleet, signal: given.signal });
    const taken = rejection(() => fleet.acquire({ signal: given.signal }));
    given.abort();
    expect(await ran).toMatchObject({ status: 'aborted', pid: 0, exitCode: 130 });
    expect(await taken).toMatchObject({ code: 'ABORT_ERR' });
    expect(fleet.stats()[0]).toMatchObject({ running: 1, queued: 0 });
    release();
  });

  test('goes past a machine that cannot be reached', async () => {
    const fleet = pool({ targets: [{ command: ['false'], name: 'broken' }, ...machines('a')], perTarget: 1 });
    const results = await Promise.all([1, 2, 3].map(() => bash('true', { target: fleet })));
    expect(results.map(({ target }) => target)).toStrictEqual(['a', 'a', 'a']);
  });

  test('places nothing on a disconnected place, and what waits for it goes on when it is back', async () => {
    const [one, other] = [await place({ name: 'one' }), await place({ name: 'other' })];
    const fleet = pool({ targets: [one.target, other.target] });
    const there = await bash('echo > file', { target: fleet, affinity: 'chat' });
    const [stopped, going] = there.target === 'one' ? [one, other] : [other, one];
    stopped.down(true);
    stopped.cut();
    await state(stopped.target, 'disconnected');
    const waiting = bash('cat file && echo back', { target: fleet, affinity: 'chat' });
    const results = await Promise.all([1, 2, 3, 4].map(() => bash('true', { target: fleet })));
    expect(new Set(results.map(({ target }) => target))).toStrictEqual(new Set([going.target.id]));
    stopped.down(false);
    expect(await waiting).toMatchObject({ stdout: '\nback\n', target: stopped.target.id });
  });

  test('leaves given targets open, and closes those that it has connected', async () => {
    const { target } = await place();
    const fleet = pool({ targets: [target, ...machines('own')] });
    const places = await Promise.all([held(fleet), held(fleet)]);
    for (const { release } of places) release();
    const own = places.find(({ id }) => id === 'own')?.target;
    await fleet.close();
    await fleet.close();
    expect([target.state, own?.state]).toStrictEqual(['connected', 'closed']);
    expect(await rejection(() => bash('true', { target: fleet }))).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });

  test('rejects calls that wait when it is closed', async () => {
    const fleet = pool({ targets: machines('a'), perTarget: 1 });
    await held(fleet);
    const waiting = rejection(() => bash('true', { target: fleet }));
    await fleet.close();
    expect(await waiting).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });

  test('that nobody holds any more is kept for its runs and tasks, and closed after them', async () => {
    const home = folder();
    const running = host(
      `
      import { TargetPool } from 'agent-bash';
      setInterval(gc, 20);
      const pool = new WeakRef(new TargetPool({ targets: [${JSON.stringify(addressOf(home))}] }));
      const { target, release } = await pool.deref().acquire();
      release();
      const made = (file) => 'until [ -e ' + file + ' ]; do sleep 0.01; done';
      const { background } = await bash(made('over'), { target: pool.deref(), mode: 'background' });
      console.log('RUNS', target.info.pid, background.pid);
      console.log((await bash(made('go'), { target: pool.deref() })).status);
      while (pool.deref()) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log('COLLECTED');
      await new Promise((resolve) => target.on('closed', resolve));
      console.log('CLOSED');`,
      { execArgv: ['--expose-gc'] },
    );
    const [, ...pids] = await running.says(/RUNS (\d+) (\d+)/);
    writeFileSync(join(home, 'go'), '');
    await running.says(/exited\nCOLLECTED/);
    expect(pids.map((pid) => alive(Number(pid)))).toStrictEqual([true, true]);
    writeFileSync(join(home, 'over'), '');
    await running.says(/CLOSED/);
    await until(() => !pids.some((pid) => alive(Number(pid))), 'its program has ended');
  });

  test('that is idle keeps no process alive', async () => {
    const home = folder();
    const script = `
      import { TargetPool } from 'agent-bash';
      const pool = new TargetPool({ targets: [${JSON.stringify(addressOf(home))}] });
      console.log((await bash('echo ran', { target: pool })).stdout);`;
    const running = host(script);
    expect(await running.ended()).toMatchObject({ code: 0 });
    expect(running.stdout().trim()).toBe('ran');
  });

  test.each([
    ['neither', {}, 'neither targets nor a provider'],
    ['an empty list', { targets: [] }, 'neither targets nor a provider'],
    ['one name twice', { targets: [{ ssh: 'x' }, { ssh: 'x' }] }, 'two places named ssh:x'],
    ['a name that is an option', { targets: [{ ssh: '-x' }] }, 'begins with `-`'],
    ['what is no address', { targets: [{ name: 'x' }] }, 'exactly one of ssh'],
    ['a pool', { targets: [new TargetPool({ targets: [{ ssh: 'x' }] })] }, 'exactly one of ssh'],
    ['an option that does not exist', { targets: [{ ssh: 'x' }], size: 1 }, 'size'],
    ['no place at once', { targets: [{ ssh: 'x' }], perTarget: 0 }, 'perTarget'],
    ['a provider without release', { provider: { acquire: () => {} } }, 'provider.release'],
    ['more at least than at most', { provider: provider().provider, min: 9, max: 8 }, 'min: 9 is more than max'],
  ])('of %s is refused', (_, options, said) => {
    expect(() => new TargetPool(options as TargetPoolOptions)).toThrowError(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(said) }),
    );
  });

  test.each(['', 7, null])('refuses the affinity %j', async (affinity) => {
    const fleet = pool({ targets: machines('a') });
    const given = { target: fleet, affinity: affinity as string };
    for (const call of [() => bash('true', given), () => fleet.acquire({ affinity: affinity as string })]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    }
  });

  test('refuses a registry of another place', async () => {
    const fleet = pool({ targets: machines('a') });
    const registry = new BackgroundRegistry();
    finished(() => registry.close());
    expect(await rejection(() => bash('true', { target: fleet, registry }))).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining('a pool'),
    });
  });
});

describe('a lost place', () => {
  test('makes its runs lost, which are never moved, and its affinity goes elsewhere', async () => {
    const homes = [folder(), folder()];
    const fleet = pool({ targets: homes.map((home, index) => ({ ...addressOf(home), name: `place-${index}` })) });
    const { target, release } = await held(fleet, 'chat');
    release();
    const ran = bash('echo ran >> log; sleep 60', { target: fleet, affinity: 'chat' });
    const log = () => homes.map((home) => readFileSync(join(home, 'log'), 'utf8'));
    const home = homes[target.id === 'place-0' ? 0 : 1] ?? '';
    await until(() => {
      try {
        return readFileSync(join(home, 'log'), 'utf8') === 'ran\n';
      } catch {
        return false;
      }
    });
    killProgram(target);
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null, target: target.id });
    expect(log).toThrowError('ENOENT');
    // The affinity was told by its own run.
    const next = await bash('ls', { target: fleet, affinity: 'chat' });
    expect(next).toMatchObject({ exitCode: 0 });
  });

  test('is told to its affinity once', async () => {
    const fleet = pool({ targets: machines('a', 'b') });
    const { target, release } = await held(fleet, 'chat');
    release();
    const lost = new Promise((resolve) => target.on('lost', resolve));
    killProgram(target);
    await lost;
    const calls = [1, 2].map(() => bash('true', { target: fleet, affinity: 'chat' }));
    const [told, next] = await Promise.allSettled(calls);
    expect(told).toMatchObject({ status: 'rejected', reason: { code: 'ERR_BASH_TARGET', reason: 'lost' } });
    expect((told as PromiseRejectedResult).reason.message).toContain(target.id);
    expect(next).toMatchObject({ status: 'fulfilled', value: { exitCode: 0, notes: [] } });
  });

  test('lets its session go on elsewhere, with a note', async () => {
    const [one, other] = [(await place({ name: 'one' })).target, (await place({ name: 'other' })).target];
    const fleet = pool({ targets: [one, other] });
    const session = new BashSession({ target: fleet });
    const first = await session.run('X=1; mkdir d; cd d; pwd');
    const [left, next] = first.target === 'one' ? [one, other] : [other, one];
    const busy = await Promise.all([held(fleet), held(fleet)]);
    busy.find(({ id }) => id === next.id)?.release();
    let begun = false;
    const onOutput = () => {
      begun = true;
    };
    const ran = session.run('echo on; sleep 60', { onOutput });
    await until(() => begun);
    killProgram(left);
    expect(await ran).toMatchObject({ status: 'lost', target: left.id });
    const went = await session.run('echo "[$X]"; pwd');
    expect(went).toMatchObject({
      stdout: `[]\n${next.info.home}\n`,
      target: next.id,
      notes: [expect.stringContaining('the session goes on')],
    });
    await session.close();
  });
});

describe('drain', () => {
  test('places nothing new, waits for the runs, and frees affinities without `lost`', async () => {
    const fleet = pool({ targets: machines('a', 'b') });
    const { id, release } = await held(fleet, 'chat');
    let gone = false;
    const drained = fleet.drain(id).then(() => {
      gone = true;
    });
    expect(fleet.stats().find((one) => one.id === id)?.state).toBe('draining');
    const result = await bash('true', { target: fleet, affinity: 'chat' });
    expect(result).toMatchObject({ exitCode: 0, notes: [expect.stringContaining(`${id} was drained`)] });
    expect(result.target).not.toBe(id);
    expect(gone).toBe(false);
    release();
    await drained;
    expect(fleet.stats().map((one) => one.id)).toStrictEqual([result.target]);
    expect((await bash('true', { target: fleet, affinity: 'chat' })).notes).toStrictEqual([]);
  });

  test('of a name that no place has is refused', async () => {
    const fleet = pool({ targets: machines('a') });
    expect(await rejection(() => fleet.drain('nowhere'))).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining('there are: a'),
    });
  });
});

describe('places of a provider', () => {
  test('are made when all are full, named by their id, and released when nobody has used them for idleMs', async () => {
    const { acquired, released, provider: made } = provider();
    const fleet = pool({ provider: made, perTarget: 1, max: 2, idleMs: 300 });
    expect(acquired).toStrictEqual([]);
    const ran = [1, 2, 3].map((index) => bash('sleep 0.3', { target: fleet, affinity: `chat-${index}` }));
    const results = await Promise.all(ran);
    expect(new Set(results.map(({ target }) => target))).toStrictEqual(new Set(['made-1', 'made-2']));
    expect(acquired).toStrictEqual(['chat-1', 'chat-2']);
    await until(() => released.length === 2);
    expect(released.sort()).toStrictEqual([
      ['made-1', false],
      ['made-2', false],
    ]);
    expect(fleet.stats()).toStrictEqual([]);
    expect((await bash('true', { target: fleet, affinity: 'chat-1' })).notes[0]).toContain('was released');
  });

  test('are kept for min, and while a task of their runs goes on', async () => {
    const { released, provider: made } = provider();
    const fleet = pool({ provider: made, min: 1, idleMs: 100 });
    const registry = new BackgroundRegistry({ target: fleet });
    finished(() => registry.close());
    await registry.start('sleep 60');
    const other = await Promise.all([1, 2, 3, 4, 5].map((index) => held(fleet, `chat-${index}`)));
    for (const { release } of other) release();
    await until(() => released.length > 0);
    expect(fleet.stats().length).toBe(1);
    expect((await registry.refresh()).length).toBe(1);
  });

  test('that are lost or cannot be reached are released as broken', async () => {
    const { acquired, released, provider: made } = provider();
    const fleet = pool({ provider: made });
    const { target, release } = await held(fleet);
    let begun = false;
    const onOutput = () => {
      begun = true;
    };
    const ran = bash('echo on; sleep 60', { target, onOutput });
    await until(() => begun);
    killProgram(target);
    expect(await ran).toMatchObject({ status: 'lost' });
    await until(() => released.length === 1);
    release();
    expect(released).toStrictEqual([['made-1', true]]);
    const next = await held(fleet);
    expect([next.id, acquired.length]).toStrictEqual(['made-2', 2]);
    next.release();
    const broken = provider({ address: { command: ['false'] } });
    const others = pool({ provider: broken.provider, queueMs: 1_500 });
    const error = await rejection(() => others.acquire());
    expect(error).toMatchObject({ reason: 'timeout', message: expect.stringContaining('made-') });
    // After three failures nothing is made for 5 s.
    expect(broken.acquired.length).toBe(3);
    expect(broken.released.every(([, isBroken]) => isBroken)).toBe(true);
    await others.close();
    expect(broken.released.length).toBe(broken.acquired.length);
  });

  test('end with their time', async () => {
    const { released, provider: made } = provider();
    const acquire = async (request: { affinity: string | null }) => ({
      ...(await made.acquire(request)),
      expiresAt: Date.now() + 2_000,
    });
    const fleet = pool({ provider: { ...made, acquire }, perTarget: 1 });
    const ran = bash('sleep 60', { target: fleet });
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => released.length === 1);
    expect(released).toStrictEqual([['made-1', false]]);
  });

  test('are all released by close', async () => {
    const { released, provider: made } = provider();
    const fleet = pool({ provider: made, min: 3 });
    await until(() => fleet.stats().length === 3);
    await fleet.close();
    expect(released.length).toBe(3);
  });
});

describe('what runs on a pool', () => {
  test('a session keeps its state', async () => {
    const fleet = pool({ targets: machines('a', 'b') });
    const session = new BashSession({ target: fleet });
    expect(session.cwd).toBe('');
    await Promise.all([session.run('X=1; cd /usr'), session.run('X=$((X + 1))')]);
    const places = await Promise.all([held(fleet), held(fleet), held(fleet)]);
    expect(await session.run('echo $X')).toMatchObject({ stdout: '2\n', cwd: '/usr' });
    for (const { release } of places) release();
    const busy = await Promise.all(Array.from({ length: 8 }, () => held(fleet)));
    const waiting = rejection(() => session.run('true'));
    await until(() => fleet.stats().some(({ queued }) => queued === 1));
    await session.close();
    for (const { release } of busy) release();
    expect(await waiting).toMatchObject({ code: 'ERR_BASH_CLOSED' });
    expect(await rejection(() => session.run('true'))).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });

  test('a terminal holds its place until its program ends', async () => {
    const fleet = pool({ targets: machines('a') });
    const terminal = new PtySession({ target: fleet });
    const { pid } = await terminal.start('read line; echo "got $line"');
    expect(pid).toBeGreaterThan(0);
    expect(fleet.stats()[0]?.running).toBe(1);
    await terminal.write('it\r');
    expect((await terminal.result()).stdout).toContain('got it');
    await until(() => fleet.stats()[0]?.running === 0);
    const given = new AbortController();
    given.abort();
    const aborted = new PtySession({ target: fleet, signal: given.signal });
    expect(await aborted.start('true')).toStrictEqual({ pid: 0 });
  });

  test('a registry is where its first task was started, and commands with it go there', async () => {
    const fleet = pool({ targets: machines('a', 'b', 'c') });
    const registry = new BackgroundRegistry({ target: fleet });
    finished(() => registry.close());
    expect(registry.list()).toStrictEqual([]);
    const task = await registry.start('echo ready; sleep 60');
    const { matched } = await registry.wait(task, { pattern: 'ready' });
    expect(matched).toBe(true);
    const result = await bash('sleep 60', { target: fleet, registry, mode: 'background' });
    expect(result.target).toBe(task.target);
    expect(registry.list().length).toBe(2);
    await registry.killAll();
  });

  test('a background command is a task there', async () => {
    const fleet = pool({ targets: machines('a') });
    const result = await bash('sleep 0.2; echo over', { target: fleet, mode: 'background' });
    expect(result).toMatchObject({ status: 'backgrounded', target: 'a' });
  });

  test('warmUp starts a shell there', async () => {
    const fleet = pool({ targets: machines('a') });
    expect(await warmUp({ target: fleet, affinity: 'chat' })).toBe(true);
  });

  test('a tool is one conversation', async () => {
    const fleet = pool({ targets: machines('a', 'b') });
    const tools = [createBashTool({ target: fleet }), createBashTool({ target: fleet })];
    const call = async (tool: (typeof tools)[0], command: string) => {
      const options = { toolCallId: `call-${Math.random()}`, messages: [] };
      let last: { stdout?: string; target?: string | null } | undefined;
      const input = { command } as Parameters<typeof tool.execute>[0];
      for await (const output of tool.execute(input, options)) last = output as typeof last;
      return last;
    };
    const first = await Promise.all(tools.map((tool, index) => call(tool, `echo ${index} > file`)));
    expect(new Set(first.map((result) => result?.target)).size).toBe(2);
    for (const [index, tool] of tools.entries()) {
      expect(await call(tool, 'cat file')).toMatchObject({ stdout: `${index}\n`, target: first[index]?.target });
    }
    expect(tools[0]?.description).toContain('one of several other machines');
  });
});

test('a pool whose process was killed leaves nothing on its machines', async () => {
  const [home, seconds] = [folder(), mark()];
  const running = host(`
    import { TargetPool } from 'agent-bash';
    const pool = new TargetPool({ targets: [${JSON.stringify(addressOf(home))}] });
    await bash('sleep ${seconds}', { target: pool });`);
  await until(() => sleepers(seconds).length === 1);
  kill(running.pid, 'SIGKILL');
  await until(() => sleepers(seconds).length === 0);
});

test('a target of a pool and one of connect() are the same kind', async () => {
  await using target = await connect(addressOf(folder()));
  await using fleet = new TargetPool({ targets: [target] });
  const { target: given, release } = await fleet.acquire();
  expect(given).toBe(target);
  release();
});
