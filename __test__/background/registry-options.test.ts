import { join } from 'node:path';
import { BackgroundRegistry, bash, defaultRegistry } from 'agent-bash';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { folder, hostEnv, hostResult, rejection } from '../support/index.ts';

let registry: BackgroundRegistry;

beforeEach(() => {
  const made = new BackgroundRegistry();
  registry = made;
  onTestFinished(() => made.close());
});

/** The error that the call throws. */
function thrown(call: () => unknown): { code?: string; message?: string } {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not throw');
}

describe('the constructor throws ERR_BASH_INVALID_ARG and names option and value', () => {
  test.each([
    ['dir', 7],
    ['dir', ''],
    ['dir', 'a\0b'],
    ['dir', null],
    ['maxTasks', 0],
    ['maxTasks', 1.5],
    ['maxTasks', '5'],
    ['maxLogBytes', 0],
    ['maxLogBytes', -1],
    ['maxLogBytes', Number.POSITIVE_INFINITY],
    ['retentionMs', -1],
    ['retentionMs', Number.NaN],
  ])('%s: %j', (name, value) => {
    const error = thrown(() => new BackgroundRegistry({ [name]: value }));
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    expect(error.message).toMatch(new RegExp(`^${name}: `));
    if (typeof value === 'number') expect(error.message).toContain(String(value));
  });

  test.each([[null], [7], ['dir'], [[]]])('%j', (options) => {
    expect(thrown(() => new BackgroundRegistry(options as never)).code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('and says why a directory cannot be used', () => {
    expect(thrown(() => new BackgroundRegistry({ dir: '/dev/null/x' })).code).toMatch(/^ERR_BASH_/);
  });

  test('but takes undefined, and values at the edges of the ranges', async () => {
    const all = { dir: undefined, maxTasks: undefined, maxLogBytes: undefined, retentionMs: undefined };
    await new BackgroundRegistry(all).close();
    await new BackgroundRegistry({ dir: folder(), maxTasks: 1, maxLogBytes: 1, retentionMs: 0 }).close();
  });
});

describe('calls reject, and never throw', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['start: command', () => registry.start(7 as never)],
    ['start: options', () => registry.start('true', 7 as never)],
    ['start: cwd', () => registry.start('true', { cwd: 7 as never })],
    ['start: timeoutMs', () => registry.start('true', { timeoutMs: 0 })],
    ['check: task', () => registry.check(0)],
    ['check: task', () => registry.check('')],
    ['check: task', () => registry.check(1.5)],
    ['check: task', () => registry.check(null as never)],
    ['check: cursor', () => registry.check('t', { cursor: -1 })],
    ['check: cursor', () => registry.check('t', { cursor: '1' as never })],
    ['check: options', () => registry.check('t', 7 as never)],
    ['wait: task', () => registry.wait({} as never)],
    ['wait: timeoutMs', () => registry.wait('t', { timeoutMs: -1 })],
    ['wait: port', () => registry.wait('t', { port: 0 })],
    ['wait: port', () => registry.wait('t', { port: 65_536 })],
    ['wait: pattern', () => registry.wait('t', { pattern: 7 as never })],
    ['wait: signal', () => registry.wait('t', { signal: {} as never })],
    ['kill: task', () => registry.kill(-1)],
  ])('%s', async (what, call) => {
    const error = await rejection(call);
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    expect(error.message).toContain(what.split(': ')[1]);
  });

  test('a pattern that no engine can do', async () => {
    const { id } = await registry.start('sleep 60');
    const error = await rejection(() => registry.wait(id, { pattern: '(' }));
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    expect(error.message).toContain('pattern');
  });

  test.each([['t000000000000'], [999_999_999], ['999999999'], [{ id: 't000000000000' }]])(
    'an unknown task: %j',
    async (task) => {
      for (const call of [() => registry.check(task), () => registry.wait(task), () => registry.kill(task)]) {
        const error = await rejection(call);
        expect(error.code).toBe('ERR_BASH_UNKNOWN_TASK');
        expect(error.message).toContain(typeof task === 'object' ? task.id : String(task));
      }
    },
  );
});

describe('after close', () => {
  test('everything is ERR_BASH_CLOSED, and close may be called again', async () => {
    await Promise.all([registry.close(), registry.close()]);
    await registry.close();
    for (const call of [
      () => registry.start('true'),
      () => registry.check('t'),
      () => registry.wait('t'),
      () => registry.kill('t'),
      () => registry.killAll(),
      () => bash('true', { registry }),
    ]) {
      expect((await rejection(call)).code).toBe('ERR_BASH_CLOSED');
    }
    expect(thrown(() => registry.list()).code).toBe('ERR_BASH_CLOSED');
    expect(Array.isArray(registry.notes)).toBe(true);
    registry.off('exit', () => {});
  });

  test('tasks that were killed before have ended', async () => {
    const kept = new BackgroundRegistry({ dir: folder() });
    const tasks = await Promise.all([1, 2, 3].map(() => kept.start('sleep 60', { cwd: folder() })));
    const killed = kept.killAll();
    await kept.close();
    expect((await killed).map(({ task }) => task.state)).toEqual(['killed', 'killed', 'killed']);
    for (const { pid } of tasks) expect(thrown(() => process.kill(pid ?? 0, 0)).code).toBe('ESRCH');
  });

  test('Symbol.asyncDispose is close', async () => {
    await registry[Symbol.asyncDispose]();
    expect((await rejection(() => registry.check('t'))).code).toBe('ERR_BASH_CLOSED');
  });
});

describe('defaultRegistry', () => {
  test('is one for each directory, as the environment has it at the call', async () => {
    const [one, two] = [folder(), folder()];
    hostEnv({ XDG_STATE_HOME: one });
    const first = defaultRegistry();
    expect(defaultRegistry()).toBe(first);
    process.env.XDG_STATE_HOME = two;
    const second = defaultRegistry();
    expect(second).not.toBe(first);
    process.env.XDG_STATE_HOME = one;
    expect(defaultRegistry()).toBe(first);
    await first.close();
    const again = defaultRegistry();
    expect(again).not.toBe(first);
    expect(again.list()).toEqual([]);
    await Promise.all([second.close(), again.close()]);
  });

  test.each([
    ['XDG_STATE_HOME', (home: string) => ({ XDG_STATE_HOME: join(home, 'state'), HOME: '/nowhere' }), 'state'],
    ['HOME, without XDG_STATE_HOME', (home: string) => ({ HOME: home, XDG_STATE_HOME: '' }), '.local/state'],
    ['HOME, with a relative XDG_STATE_HOME', (home: string) => ({ HOME: home, XDG_STATE_HOME: 'x' }), '.local/state'],
  ])('lies below %s', async (_, env, place) => {
    const home = folder();
    const logPath = await hostResult<string>(
      `import { defaultRegistry } from 'agent-bash';
       const { background } = await bash('true', { mode: 'background' });
       await defaultRegistry().wait(background.id);
       console.log(JSON.stringify(background.logPath));`,
      { env: env(home) },
    );
    expect(logPath.startsWith(join(home, place, 'agent-bash/'))).toBe(true);
  });
});

describe('bash with a registry', () => {
  test('starts in the background, in the registry that was given', async () => {
    const result = await bash('sleep 60', { mode: 'background', registry });
    expect(result).toMatchObject({ status: 'backgrounded', exitCode: null, stdout: '', stderr: '' });
    expect(result.truncation).toEqual({ stdout: null, stderr: null });
    expect(registry.list()).toEqual([result.background]);
    expect(result.pid).toBe(result.background?.pid);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  test('moves to the background at the limit, unless onTimeout is kill', async () => {
    const moved = await bash('echo a; sleep 60', { timeoutMs: 1_500, registry });
    expect(moved).toMatchObject({ status: 'backgrounded', stdout: 'a\n', background: { state: 'running' } });
    expect(moved.truncation.stdout).toMatchObject({ notice: '', path: moved.background?.logPath });
    const killed = await bash('echo a; sleep 60', { timeoutMs: 1_500, registry, onTimeout: 'kill' });
    expect(killed).toMatchObject({ status: 'timed-out', exitCode: 124, background: null });
  });

  test('has 120 s, and 15 min when it is slow', async () => {
    expect(await bash('true', { registry })).toMatchObject({ timeoutMs: 120_000 });
    expect(await bash('true', { registry, mode: 'slow' })).toMatchObject({ timeoutMs: 900_000 });
    expect(await bash('true', { registry, onTimeout: 'kill' })).toMatchObject({ timeoutMs: 30_000 });
  });
});

test('a start that is aborted before it begins starts nothing; one that is aborted later goes on', async () => {
  const error = await rejection(() => registry.start('sleep 60', { signal: AbortSignal.abort() }));
  expect(error.code).toBe('ABORT_ERR');
  expect(registry.list()).toEqual([]);
  const abort = new AbortController();
  const { id } = await registry.start('echo up; sleep 60', { signal: abort.signal });
  abort.abort();
  expect(await registry.wait(id, { pattern: 'up' })).toMatchObject({ matched: true, task: { state: 'running' } });
});
