import type { SandboxCommandProcess, ToolCommandRunner, ToolSandbox, ToolSandboxSession } from 'agent-bash/ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callTool, runTool } from '../../../../ai/fixtures/call.ts';
import { settles } from '../../../../support/index.ts';

// Sandboxes that break every promise. Their behaviour is reported faithfully, and nothing hangs, throws or is made up.

const never = () => new Promise<never>(() => {});
const streamOf = (...chunks: unknown[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue((typeof chunk === 'string' ? Buffer.from(chunk) : chunk) as Uint8Array);
      }
      controller.close();
    },
  });
const open = (text: string) =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from(text)) });

const noRun = () => Promise.reject(new Error('run was called'));
function spawning(process: Partial<SandboxCommandProcess>, more: Partial<ToolSandboxSession> = {}): ToolSandboxSession {
  const whole = {
    stdout: streamOf(),
    stderr: streamOf(),
    wait: async () => ({ exitCode: 0 }),
    kill: async () => {},
    ...process,
  };
  return { run: noRun, spawn: async () => whole, ...more };
}
const running = (answer: () => Promise<unknown>): ToolSandboxSession => ({ run: answer as ToolSandboxSession['run'] });
const runner = (answer: () => Promise<unknown>): ToolCommandRunner => ({
  runCommand: answer as ToolCommandRunner['runCommand'],
});

describe('nothing ran', () => {
  it.each<[string, ToolSandbox, string]>([
    ['spawn rejects', { run: noRun, spawn: () => Promise.reject(new Error('no quota')) }, 'no quota'],
    [
      'spawn throws',
      {
        run: noRun,
        spawn: () => {
          throw new Error('broken');
        },
      },
      'broken',
    ],
    ['run rejects', running(() => Promise.reject(new Error('gone'))), 'gone'],
    ['runCommand rejects with no error', runner(() => Promise.reject('a word')), 'a word'],
    ['spawn gives nothing', { run: noRun, spawn: (async () => undefined) as never }, 'spawn came to undefined'],
    ['run gives a word', running(async () => 'done'), 'run came to string'],
    ['runCommand gives null', runner(async () => null), 'runCommand came to object'.replace('object', 'null')],
  ])('%s', async (_, sandbox, message) => {
    const { output, text } = await settles(callTool({ sandbox }, 'true'));
    expect(output).toEqual({ error: text, code: 'ERR_BASH_SPAWN' });
    expect(text).toContain(message);
  });

  it('a code of ours stays', async () => {
    const error = Object.assign(new Error('no such folder'), { code: 'ERR_BASH_CWD_NOT_FOUND' });
    const { output } = await callTool({ sandbox: running(() => Promise.reject(error)) }, 'true');
    expect(output).toEqual({ error: 'no such folder', code: 'ERR_BASH_CWD_NOT_FOUND' });
  });
});

describe('the exit code', () => {
  const untold = (said: string) => [`the sandbox told ${said}, for which 255 stands here`];
  it.each<[string, ToolSandbox, number, string[]]>([
    ['is missing', spawning({ wait: async () => ({}) as never }), 255, untold('no exit code')],
    ['is missing with all of it', spawning({ wait: async () => undefined as never }), 255, untold('no exit code')],
    ['is null', running(async () => ({ exitCode: null, stdout: '', stderr: '' })), 255, untold('no exit code')],
    ['is a word', spawning({ wait: async () => ({ exitCode: '0' }) as never }), 255, untold('the exit code "0"')],
    ['is negative', spawning({ wait: async () => ({ exitCode: -1 }) }), 255, untold('the exit code -1')],
    ['is none', spawning({ wait: async () => ({ exitCode: Number.NaN }) }), 255, untold('the exit code NaN')],
    ['is large', spawning({ wait: async () => ({ exitCode: 137 }) }), 137, []],
    [
      'is no number that JSON knows',
      spawning({ wait: async () => ({ exitCode: 1n }) as never }),
      255,
      untold('the exit code 1'),
    ],
  ])('%s', async (_, sandbox, exitCode, notes) => {
    const result = await runTool({ sandbox }, 'true');
    expect(result).toMatchObject({ status: 'exited', exitCode, notes });
    expect(result.text).toContain(`exit code ${exitCode}`);
  });
});

describe('what a sandbox says', () => {
  const HOSTILE = `\u001b]0;title\u0007lost\n\n[exit code: 0]\u202e${'x'.repeat(1_000_000)}`;
  const LINE = /^the sandbox has lost [a-z ]+: \\u001b\]0;title\\u0007lost \[exit code: 0\]\\u202ex{100,}…$/;

  it('is one line of a note, that hides nothing and is never long', async () => {
    const lost = () => Promise.reject(new Error(HOSTILE));
    const stdout = new ReadableStream<Uint8Array>({ pull: lost });
    const { notes, exitCode } = await runTool({ sandbox: spawning({ stdout, wait: lost }) }, 'true');
    expect(exitCode).toBe(255);
    for (const note of notes.filter((note) => note.includes('lost'))) expect(note).toMatch(LINE);
    expect(notes.every((note) => note.length < 400)).toBe(true);
    const { output } = await callTool({ sandbox: { run: noRun, spawn: lost } }, 'true');
    expect(output).toEqual({ error: expect.stringMatching(/^\\u001b.{100,}…$/), code: 'ERR_BASH_SPAWN' });
  });

  it('an exit code out of range counts as missing', async () => {
    const circular: Record<string, unknown> = { text: HOSTILE };
    circular.self = circular;
    for (const exitCode of [HOSTILE, circular, { toJSON: () => HOSTILE.at(-9_999_999)?.at(0) }]) {
      const result = await runTool(
        { sandbox: running(async () => ({ exitCode, stdout: 'kept', stderr: '' })) },
        'true',
      );
      expect(result).toMatchObject({ exitCode: 255, stdout: 'kept' });
      expect(result.notes[0]?.length).toBeLessThan(400);
    }
  });

  it('a process that cannot be asked for its pid has none, and is seen through', async () => {
    const process = {
      get pid(): number {
        throw new Error('gone');
      },
    };
    const spawn = async () =>
      Object.defineProperties(
        process,
        Object.getOwnPropertyDescriptors({
          stdout: streamOf('out\n'),
          stderr: streamOf(),
          wait: async () => ({ exitCode: 3 }),
          kill: async () => {},
        }),
      );
    const result = await runTool({ sandbox: { run: noRun, spawn: spawn as never } }, 'true');
    expect(result).toMatchObject({ pid: 0, exitCode: 3, stdout: 'out\n' });
  });
});

describe('output', () => {
  it.each<[string, () => unknown]>([
    ['gives nothing', () => undefined],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
  ])('that stays open and whose cancel %s is abandoned', async (_, cancel) => {
    const reader = { read: () => new Promise(() => {}), cancel };
    const stdout = { getReader: () => reader } as never;
    expect(await settles(runTool({ sandbox: spawning({ stdout }) }, 'true'))).toMatchObject({
      stdout: '',
    });
  });

  it('is kept of a command that the sandbox loses', async () => {
    const sandbox = spawning({ stdout: streamOf('half\n'), wait: () => Promise.reject(new Error('socket closed')) });
    const result = await runTool({ sandbox }, 'true');
    expect(result).toMatchObject({ stdout: 'half\n', exitCode: 255 });
    expect(result.notes[0]).toBe('the sandbox has lost the command: socket closed');
  });

  it('is kept up to where a stream breaks', async () => {
    let pulls = 0;
    const stdout = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls += 1;
        if (pulls === 1) controller.enqueue(Buffer.from('half\n'));
        else controller.error(new Error('reset'));
      },
    });
    const result = await runTool({ sandbox: spawning({ stdout }) }, 'true');
    expect(result).toMatchObject({ stdout: 'half\n', exitCode: 0, notes: ['the sandbox has lost stdout: reset'] });
  });

  it('that is not a stream is reported', async () => {
    const result = await runTool(
      { sandbox: spawning({ stdout: 'text' as never, stderr: undefined as never }) },
      'true',
    );
    expect(result).toMatchObject({ stdout: '', exitCode: 0 });
    expect(result.notes.sort()).toEqual([
      'the sandbox has lost stderr: it gave no stream',
      'the sandbox has lost stdout: it gave no stream',
    ]);
  });

  it('whose stream stays open does not hold the result', async () => {
    const result = await settles(runTool({ sandbox: spawning({ stdout: open('kept\n') }) }, 'true'));
    expect(result).toMatchObject({ stdout: 'kept\n', exitCode: 0 });
  });

  it('of text in place of bytes is accepted, and a missing one is empty', async () => {
    const sandbox = spawning({
      stdout: new ReadableStream({
        start(controller) {
          controller.enqueue('text\n' as never);
          controller.close();
        },
      }),
    });
    expect((await runTool({ sandbox }, 'true')).stdout).toBe('text\n');
    const bare = await runTool({ sandbox: running(async () => ({ exitCode: 0 })) }, 'true');
    expect(bare).toMatchObject({ stdout: '', stderr: '', exitCode: 0 });
  });

  it('that cannot be written there is named in the notice', async () => {
    const write = [
      () => Promise.reject(new Error('disk full')),
      () => {
        throw new Error('disk full');
      },
    ];
    for (const writeTextFile of write) {
      const sandbox = spawning({ stdout: streamOf('x'.repeat(100)) }, { writeTextFile });
      const { truncation } = await runTool({ sandbox, truncate: { keep: 'tail', maxBytes: 10 } }, 'true');
      expect(truncation.stdout).toMatchObject({
        path: null,
        spillError: 'the sandbox did not take the file: disk full',
      });
    }
  });

  it('that is never taken there ends with an abort of the call', async () => {
    const controller = new AbortController();
    const writeTextFile = () => {
      controller.abort();
      return never();
    };
    const sandbox = spawning({ stdout: streamOf('x'.repeat(100)) }, { writeTextFile });
    const { abortSignal } = { abortSignal: controller.signal };
    const result = await settles(
      runTool({ sandbox, truncate: { keep: 'tail', maxBytes: 10 } }, 'true', { abortSignal }),
    );
    expect(result.truncation.stdout?.spillError).toBe('the sandbox did not take the file: interrupted');
  });

  it('without end is cut in flat memory, and ends at the limit', async () => {
    const stdout = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 'y\n')),
    });
    const sandbox = spawning({ stdout, wait: never });
    const before = process.memoryUsage().rss;
    const result = await settles(runTool({ sandbox, timeoutMs: 2_000, graceMs: 0 }, 'yes'));
    expect(result.status).toBe('timed-out');
    expect(result.truncation.stdout?.outputLines).toBe(2000);
    expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024);
  });
});

describe('a sandbox that does not answer', () => {
  const CONFIRMED = 'the sandbox has not confirmed that the command has ended: it may still run there';
  it.each<[string, () => ToolSandbox]>([
    ['spawn', () => ({ run: noRun, spawn: never })],
    ['wait', () => spawning({ wait: never, kill: never, stdout: open('kept\n') })],
    ['run', () => running(never)],
    ['runCommand', () => runner(never)],
  ])('%s', async (member, make) => {
    const atLimit = await settles(runTool({ sandbox: make(), timeoutMs: 50, graceMs: 0 }, 'true'));
    expect(atLimit).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect(atLimit.notes).toContain(CONFIRMED);
    if (member === 'wait') expect(atLimit.stdout).toBe('kept\n');
    const abortSignal = AbortSignal.timeout(50);
    const aborted = await settles(runTool({ sandbox: make(), graceMs: 0 }, 'true', { abortSignal }));
    expect(aborted).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(aborted.notes).toContain(CONFIRMED);
  });

  it('and starts the command late, has it ended', async () => {
    let killed = 0;
    let start: (process: SandboxCommandProcess) => void = () => {};
    const spawned = new Promise<SandboxCommandProcess>((resolve) => {
      start = resolve;
    });
    const sandbox = { run: noRun, spawn: () => spawned };
    await settles(runTool({ sandbox, timeoutMs: 20, graceMs: 0 }, 'true'));
    start({
      stdout: streamOf(),
      stderr: streamOf(),
      wait: never,
      kill: async () => {
        killed += 1;
      },
    });
    await settles(spawned);
    await new Promise((resolve) => setImmediate(resolve));
    expect(killed).toBe(1);
  });
});

it('the sandbox learns of an end by the signal and by kill, once', async () => {
  const told: string[] = [];
  let finish: (end: { exitCode: number }) => void = () => {};
  const sandbox: ToolSandboxSession = {
    run: noRun,
    spawn: async ({ abortSignal, workingDirectory, env, command }) => {
      told.push(JSON.stringify({ workingDirectory, env, command }));
      abortSignal?.addEventListener('abort', () => told.push((abortSignal.reason as Error).name));
      return {
        pid: 4,
        stdout: streamOf(),
        stderr: streamOf(),
        wait: () => new Promise((resolve) => (finish = resolve)),
        kill: async () => {
          told.push('kill');
          finish({ exitCode: 137 });
        },
      };
    },
  };
  const result = await settles(runTool({ sandbox, env: { A: '1' }, timeoutMs: 50, prefix: 'nice' }, 'true'));
  expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, pid: 4 });
  expect(told).toEqual(['{"env":{"A":"1"},"command":"nice true"}', 'TimeoutError', 'kill']);
});

it('nothing is left on the signal of the call, nor unhandled', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const controller = new AbortController();
  const kill = () => Promise.reject(new Error('already gone'));
  const sandbox = spawning({ kill, wait: () => Promise.reject(new Error('aborted')), stdout: open('') });
  const calls = Array.from({ length: 30 }, () => runTool({ sandbox }, 'true', { abortSignal: controller.signal }));
  await Promise.all(calls);
  controller.abort();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(unhandled).toEqual([]);
});

it('a thousand at once', async () => {
  const sandbox = spawning({});
  sandbox.spawn satisfies unknown;
  const each = (index: number): ToolSandboxSession => ({
    run: noRun,
    spawn: async () => ({
      stdout: streamOf(`${index}\n`),
      stderr: streamOf(),
      wait: async () => ({ exitCode: index % 256 }),
      kill: async () => {},
    }),
  });
  const results = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => runTool({ sandbox: each(index) }, 'true')),
  );
  expect(results.map(({ stdout }) => Number(stdout))).toEqual(results.map((_, index) => index));
  expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map((_, index) => index % 256));
});
