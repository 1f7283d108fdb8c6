import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BackgroundTask } from 'agent-bash';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { folder, hostResult, seq, until } from '../support/index.ts';

let registry: BackgroundRegistry;

beforeEach(() => {
  const made = new BackgroundRegistry();
  registry = made;
  onTestFinished(() => made.close());
});

/** Warnings of this process about listeners, until the test ends. */
function warnings(): Error[] {
  const heard: Error[] = [];
  const listener = (warning: Error) => {
    if ((warning as { code?: string }).code === 'AGENT_BASH_LISTENER') heard.push(warning);
  };
  process.on('warning', listener);
  onTestFinished(() => {
    process.off('warning', listener);
  });
  return heard;
}

describe("on('exit')", () => {
  test('tells each task once, with how it ended', async () => {
    const heard: BackgroundTask[] = [];
    registry.on('exit', (task) => heard.push(task));
    const started = await Promise.all(['true', 'exit 3', 'kill -9 $$'].map((command) => registry.start(command)));
    const killed = await registry.start('sleep 60');
    await registry.kill(killed.id);
    await until(() => heard.length === 4);
    const of = ({ id }: BackgroundTask) => heard.filter((task) => task.id === id);
    expect(started.map(of)).toMatchObject([
      [{ state: 'exited', exitCode: 0 }],
      [{ state: 'exited', exitCode: 3 }],
      [{ state: 'killed', exitCode: 137, signal: 'SIGKILL' }],
    ]);
    expect(of(killed)).toMatchObject([{ state: 'killed', exitCode: 143, signal: 'SIGTERM' }]);
  });

  test('a removed listener receives nothing; one added twice receives an event once', async () => {
    const [gone, kept] = [vi.fn(), vi.fn()];
    registry.on('exit', gone);
    registry.on('exit', kept);
    registry.on('exit', kept);
    registry.off('exit', gone);
    await registry.start('true');
    await until(() => kept.mock.calls.length > 0);
    await registry.wait((await registry.start('true')).id);
    await until(() => kept.mock.calls.length > 1);
    expect(kept).toHaveBeenCalledTimes(2);
    expect(gone).not.toHaveBeenCalled();
  });

  test('receives the ends of tasks that close ends', async () => {
    const heard = vi.fn();
    registry.on('exit', heard);
    await registry.start('sleep 60');
    await registry.close();
    expect(heard).toHaveBeenCalledOnce();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws what is no error',
      () => {
        throw Object.create(null);
      },
    ],
  ])('a listener that %s is a warning, once, and affects no other', async (_, failing) => {
    const heard = vi.fn();
    const warned = warnings();
    const calls = vi.fn(failing);
    registry.on('exit', calls);
    registry.on('exit', heard);
    await registry.start('true');
    await registry.start('true');
    await until(() => heard.mock.calls.length === 2);
    await until(() => warned.length > 0);
    expect(calls).toHaveBeenCalledTimes(2);
    expect(warned.length).toBe(1);
    expect(warned[0]?.message).toContain('a listener of a BackgroundRegistry failed: ');
  });
});

describe("on('output')", () => {
  test('gives all output of a task, in order', async () => {
    let text = '';
    registry.on('output', (_, piece) => {
      text += piece;
    });
    const { id } = await registry.start('seq 100000');
    await registry.wait(id);
    await until(() => text.length >= seq(1, 100_000).length);
    expect(text).toBe(seq(1, 100_000));
  });

  test('the next text comes once the one before was taken', async () => {
    const cwd = folder();
    let release = () => {};
    const texts: string[] = [];
    registry.on('output', async (_, text) => {
      texts.push(text);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    const { id } = await registry.start('mkfifo fifo; echo one; read x <fifo; echo two', { cwd });
    await until(() => texts.length === 1);
    appendFileSync(join(cwd, 'fifo'), '\n');
    expect(await registry.wait(id)).toMatchObject({ output: 'one\ntwo\n' });
    expect(texts).toEqual(['one\n']);
    release();
    await until(() => texts.length === 2);
    expect(texts).toEqual(['one\n', 'two\n']);
    release();
  });

  test('a listener that fails is a warning, and the text goes on', async () => {
    const warned = warnings();
    let text = '';
    registry.on('output', () => Promise.reject(new Error('disk full')));
    registry.on('output', (_, piece) => {
      text += piece;
    });
    const { id } = await registry.start('echo one; sleep .4; echo two');
    await registry.wait(id);
    await until(() => text === 'one\ntwo\n');
    expect(warned.map(({ message }) => message)).toEqual(['a listener of a BackgroundRegistry failed: disk full']);
  });
});

test.each([
  ['close', () => {}],
  ['exit', 7],
  ['output', undefined],
])('on(%j, %o) is refused', (event, listener) => {
  expect(() => registry.on(event as 'exit', listener as never)).toThrow(
    expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
  );
});

test('neither tasks nor listeners keep Node alive', async () => {
  const state = await hostResult<string>(
    `import { BackgroundRegistry } from 'agent-bash';
     const registry = new BackgroundRegistry();
     registry.on('exit', () => {});
     registry.on('output', () => {});
     const { state } = await registry.start('sleep 60');
     console.log(JSON.stringify(state));`,
  );
  expect(state).toBe('running');
});

test('a pending wait keeps Node alive', async () => {
  const result = await hostResult<{ matched: boolean }>(
    `import { BackgroundRegistry } from 'agent-bash';
     const registry = new BackgroundRegistry();
     const { id } = await registry.start('sleep .5; echo ready; sleep 60');
     registry.wait(id, { pattern: /READY/i }).then((check) => console.log(JSON.stringify(check)));`,
  );
  expect(result).toMatchObject({ matched: true, output: 'ready\n' });
});
