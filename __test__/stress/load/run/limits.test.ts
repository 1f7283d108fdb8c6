import { readFileSync } from 'node:fs';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, HANG, host, mark, promptly, settles, sleepers, timed, until } from '../../../support/index.ts';

describe('the limit', () => {
  test.each([
    [{}, 30_000],
    [{ mode: 'default' }, 30_000],
    [{ mode: 'slow' }, 900_000],
    [{ timeoutMs: 1234 }, 1234],
    [{ mode: 'slow', timeoutMs: 4321 }, 4321],
    [{ onTimeout: 'kill' }, 30_000],
  ] as const)('of %j is %i ms', async (options, timeoutMs) => {
    expect((await bash('true', options)).timeoutMs).toBe(timeoutMs);
  });

  test('of 1 ms', async () => {
    const result = await settles(bash('sleep 20', { timeoutMs: 1 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 1 });
  });

  test('a command that ends before is not touched by it', async () => {
    const result = await bash('sleep .2; echo done; exit 3', { timeoutMs: 20_000 });
    expect(result).toMatchObject({ status: 'exited', exitCode: 3, stdout: 'done\n' });
  });

  test('ends a shell by SIGTERM when that is enough, and says so', async () => {
    const [result, elapsed] = await timed(() => bash('sleep 20; echo after', { timeoutMs: 1_500, graceMs: 15_000 }));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: 'SIGTERM', stdout: '' });
    expect(elapsed).toBeLessThan(1_500 + HANG);
  });

  test('a shell that exits in its handler: the limit still tells', async () => {
    const result = await bash("trap 'echo bye; exit 0' TERM; while :; do sleep .02; done", {
      timeoutMs: 1_500,
      graceMs: 10_000,
    });
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: null, stdout: 'bye\n' });
  });

  test('does not end what a command of before left running', async () => {
    const seconds = mark();
    const first = await bash(`sleep ${seconds} & echo hi`, { timeoutMs: 800 });
    expect(first.status).toBe('exited');
    const second = await bash('sleep 20', { timeoutMs: 900 });
    expect(second.status).toBe('timed-out');
    expect(sleepers(seconds)).toHaveLength(1);
  });

  test('holds for a listener that takes its time as well', async () => {
    const [result, elapsed] = await timed(() =>
      settles(
        bash('yes', {
          timeoutMs: 500,
          graceMs: 100,
          onOutput: () => new Promise((resolve) => setTimeout(resolve, 30)),
        }),
      ),
    );
    expect(result.status).toBe('timed-out');
    expect(elapsed).toBeLessThan(1_600 + HANG);
  });

  test('many at once, each with its own', async () => {
    const all = await Promise.all([100, 200, 300, 400, 500].map((timeoutMs) => bash('sleep 20', { timeoutMs })));
    expect(all.map(({ status, timeoutMs }) => [status, timeoutMs])).toEqual(
      [100, 200, 300, 400, 500].map((timeoutMs) => ['timed-out', timeoutMs]),
    );
  });
});

describe('an abort', () => {
  test('ends the whole tree', async () => {
    const seconds = mark();
    const controller = new AbortController();
    const promise = bash(`sleep ${seconds} | sleep ${seconds} & (sleep ${seconds}) & wait`, {
      signal: controller.signal,
    });
    await until(() => sleepers(seconds).length === 3);
    controller.abort();
    expect(await settles(promise)).toMatchObject({
      status: 'aborted',
      exitCode: 130,
      signal: 'SIGTERM',
      survivors: [],
    });
    expect(sleepers(seconds)).toEqual([]);
  });

  test('whatever its reason is', async () => {
    for (const reason of [new Error('why'), 'why', null, 7, { some: 'object' }]) {
      const controller = new AbortController();
      const promise = bash('sleep 20', { signal: controller.signal });
      controller.abort(reason);
      expect((await settles(promise)).status).toBe('aborted');
    }
  });

  test('by `AbortSignal.timeout` and `AbortSignal.any`', async () => {
    expect((await settles(bash('sleep 20', { signal: AbortSignal.timeout(100) }))).status).toBe('aborted');
    const controller = new AbortController();
    const promise = bash('sleep 20', { signal: AbortSignal.any([controller.signal, AbortSignal.timeout(60_000)]) });
    controller.abort();
    expect((await settles(promise)).status).toBe('aborted');
  });

  test('of one ends only its own command', async () => {
    const controller = new AbortController();
    const one = bash('sleep 20', { signal: controller.signal });
    const other = bash('sleep .5; echo on');
    controller.abort();
    expect((await settles(one)).status).toBe('aborted');
    expect(await other).toMatchObject({ status: 'exited', stdout: 'on\n' });
  });

  test('of many on one signal ends them all', async () => {
    const seconds = mark();
    const controller = new AbortController();
    const all = Promise.all(
      Array.from({ length: 20 }, () => bash(`sleep ${seconds}; :`, { signal: controller.signal })),
    );
    await until(() => sleepers(seconds).length === 20);
    controller.abort();
    expect((await settles(all)).every(({ status, exitCode }) => status === 'aborted' && exitCode === 130)).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('in the listener', async () => {
    const controller = new AbortController();
    const result = await settles(
      bash('echo one; sleep 20', { signal: controller.signal, onOutput: () => controller.abort() }),
    );
    expect(result).toMatchObject({ status: 'aborted', stdout: 'one\n' });
  });

  test('a script ends by itself after it', async () => {
    const script = host(
      `const controller = new AbortController();
       setTimeout(() => controller.abort(), 200);
       const { status } = await bash('sleep 60', { signal: controller.signal });
       console.log(status);`,
    );
    expect((await script.ended()).code).toBe(0);
    expect(script.stdout()).toBe('aborted\n');
  });
});

describe('the grace', () => {
  test('is 2 s when left out', async () => {
    const [result, elapsed] = await timed(() => bash("trap '' TERM; while :; do sleep .1; done", { timeoutMs: 1_500 }));
    expect(result.signal).toBe('SIGKILL');
    expect(elapsed).toBeGreaterThan(3_400);
    expect(elapsed).toBeLessThan(3_500 + HANG);
  });

  test('of 0 sends SIGKILL at once', async () => {
    const result = await promptly(() =>
      bash("trap '' TERM; while :; do sleep .1; done", { timeoutMs: 700, graceMs: 0 }),
    );
    expect(result.signal).toBe('SIGKILL');
  });

  test('ends early when everything is gone', async () => {
    const [, elapsed] = await timed(() => bash('sleep 20 & sleep 20 & wait', { timeoutMs: 1_500, graceMs: 15_000 }));
    expect(elapsed).toBeLessThan(1_500 + HANG);
  });
});

test('the event loop is never blocked while commands run', async () => {
  let most = 0;
  let last = performance.now() - queuedMs();
  const timer = setInterval(() => {
    const now = performance.now() - queuedMs();
    most = Math.max(most, now - last);
    last = now;
  }, 5);
  await Promise.all([
    bash('seq 3000000', { spill: { dir: folder() } }),
    bash('sleep .5'),
    bash('head -c 20000000 /dev/urandom', { spill: false }),
  ]);
  clearInterval(timer);
  expect(most).toBeLessThan(1_000);
});

/** The time for which this thread could run, ms, while others ran. A loop that waits for its turn is not blocked. */
function queuedMs(): number {
  if (process.platform !== 'linux') return 0;
  const [, queuedNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(queuedNs) / 1e6;
}
