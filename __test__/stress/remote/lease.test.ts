import { BackgroundRegistry, BashSession, bash, PtySession, type Target } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { isLinux, isRoot, mark, processOf, sleepers, state, testNeeding, until } from '../../support/index.ts';
import { relayed } from '../../support/relay.ts';
import { inside, shown } from './traces.ts';

/** Time in ms in which all is gone after the lease. */
const GONE = 3_000;
const ALIVE = 1_000;

/** Starts one of each that ends with its host, and a task that does not. All of them sleep. */
async function sleeping(target: Target) {
  const [ends, stays] = [mark(), mark()];
  const session = new BashSession({ target });
  await session.run('cd /usr; X=1');
  const terminal = new PtySession({ target });
  await terminal.start(`sleep ${ends}`);
  const [temporary, kept] = [new BackgroundRegistry({ target }), new BackgroundRegistry({ target, dir: 'tasks' })];
  const task = await temporary.start(`sleep ${ends}`);
  const stayed = await kept.start(`sleep ${stays}`);
  let text = '';
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
  };
  const runs = [
    bash(`echo out; (setsid sleep ${ends} &); sleep ${ends}`, { target, onOutput }),
    bash(`env -i setsid --wait "$(command -v sleep)" ${ends}`, { target }),
    session.run(`sleep ${ends} & sleep ${ends}`),
    terminal.result(),
  ];
  await until(() => sleepers(ends).length === 7 && sleepers(stays).length === 1 && text === 'out\n');
  return { ends, stays, session, temporary, kept, task, stayed, runs };
}

/** Checks that all of that is lost, and what the target does once it has healed. */
async function checkLost({
  session,
  temporary,
  kept,
  task,
  stayed,
  runs,
  stays,
}: Awaited<ReturnType<typeof sleeping>>) {
  for (const result of await Promise.all(runs)) {
    expect(result).toMatchObject({ status: 'lost', exitCode: null, signal: null, target: 'there' });
    expect(result.notes).toContainEqual(expect.stringMatching(/^the command is lost: /));
  }
  expect(temporary.list()).toMatchObject([{ id: task.id, state: 'lost' }]);
  expect(sleepers(stays).length).toBe(1);
  const first = await session.run('echo "[$X]"; pwd');
  expect(first).toMatchObject({ stdout: '[]\n/usr\n', cwd: '/usr' });
  expect(first.notes).toContainEqual(expect.stringMatching(/^the state of the session is gone/));
  expect((await kept.kill(stayed)).task).toMatchObject({ state: 'killed' });
  expect(sleepers(stays)).toStrictEqual([]);
}

describe.runIf(isLinux)('a target that is away for longer than its lease', () => {
  // A program whose client is killed and whose pipes stay open sees the cut by the silence.
  test.each([
    ['cut', 0],
    ['kill', 0],
    ['hold', ALIVE],
  ] as const)('is left without a process of ours: %s', async (kind, later) => {
    const { target, home, relay } = await relayed({ detachMs: 1_500, aliveMs: ALIVE });
    const load = await sleeping(target);
    const { pid } = target.info;
    await relay.down(true);
    await relay.fail({ kind });
    await state(target, 'lost');
    const lost = performance.now();
    await until(() => sleepers(load.ends).length === 0 && !processOf(pid), 'all of it is gone');
    const gone = performance.now() - lost;
    expect(gone).toBeLessThan(GONE + later);
    await relay.down(false);
    await checkLost(load);
    expect(target.info.pid).not.toBe(pid);
    await relay.release();
    await target.close();
    await until(() => inside(home).length === 0, 'nothing is left').catch((error: Error) => {
      throw new Error(`${error.message}\n${shown(home)}`);
    });
    console.log(`gone ${Math.round(gone)} ms after the lease: ${kind}`);
  });
});

describe.runIf(isLinux)('a target whose program is killed', () => {
  test('loses what ran, and heals', async () => {
    const { target, home } = await relayed();
    const load = await sleeping(target);
    const killed = performance.now();
    process.kill(target.info.pid, 'SIGKILL');
    await until(() => sleepers(load.ends).length === 0, 'all of it is gone');
    console.log(`gone ${Math.round(performance.now() - killed)} ms after the end of the program`);
    await checkLost(load);
    await target.close();
    await until(() => inside(home).length === 0, 'nothing is left');
  });
});

describe('another machine behind the name of a target', () => {
  /** Starts all later programs with another `/etc/machine-id`. */
  const other = (home: string) => {
    const script = 'echo other > "$0/id" && mount --bind "$0/id" /etc/machine-id && exec "$@"';
    return ['unshare', '--mount', 'sh', '-c', script, home];
  };

  const rootTest = testNeeding('root, who may mount', isRoot, 'linux');

  rootTest('runs nothing, and the first one is found again', async () => {
    const { target, relay } = await relayed();
    const seconds = mark();
    const ran = bash(`sleep ${seconds}; echo done`, { target });
    await until(() => sleepers(seconds).length === 1);
    const { machine } = target.info;
    const home = target.info.home;
    await relay.before(other(home));
    await relay.fail({ kind: 'cut' });
    const waiting = bash('cat /etc/machine-id', { target });
    // It has been asked at least twice.
    const begun = async () => (await relay.counts()).connections;
    const count = await begun();
    await until(async () => (await begun()) >= count + 3, 'the other machine was reached');
    expect(target.state).toBe('disconnected');
    await relay.before([]);
    await state(target, 'connected');
    expect((await waiting).stdout).not.toContain('other');
    for (const pid of sleepers(seconds)) process.kill(pid, 'SIGTERM');
    expect(await ran).toMatchObject({ status: 'exited', stdout: 'done\n' });
    expect(target.info.machine).toBe(machine);
  });

  rootTest('takes its place once the lease has ended', async () => {
    const { target, relay, home } = await relayed({ detachMs: 1_500 });
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    const { machine } = target.info;
    await relay.before(other(home));
    await relay.fail({ kind: 'cut' });
    expect(await ran).toMatchObject({ status: 'lost' });
    await until(() => sleepers(seconds).length === 0);
    expect((await bash('cat /etc/machine-id', { target })).stdout).toBe('other\n');
    expect(target.info.machine).not.toBe(machine);
  });
});
