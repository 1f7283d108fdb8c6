import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { type BashRunner, type BashToolOutput, createBashTool } from 'agent-bash/ai';
import { describe, expect, it, vi } from 'vitest';
import { live } from '../../ts/tool/call/run.ts';
import { folder } from '../support/index.ts';
import { runTool } from './fixtures/call.ts';

describe('live snapshots', () => {
  it('show the output so far; the last output is the result', async () => {
    const { updates, stdout } = await runTool(
      { updateIntervalMs: 50 },
      'echo a; sleep .4; printf b; sleep .4; echo c >&2; sleep .3',
    );
    expect(updates.length).toBeGreaterThanOrEqual(3);
    for (const update of updates) {
      expect(update).toEqual({
        status: 'running',
        stdout: expect.any(String),
        stderr: expect.any(String),
        exitCode: null,
        pid: expect.any(Number),
        durationMs: expect.any(Number),
      });
      expect(structuredClone(update)).toEqual(update);
    }
    expect(updates.map((update) => update.stdout)).toEqual(expect.arrayContaining(['a\n', 'a\nb']));
    expect(updates.at(-1)).toMatchObject({ stdout: 'a\nb', stderr: 'c\n' });
    expect(new Set(updates).size).toBe(updates.length);
    expect(stdout).toBe('a\nb');
  });

  it('come only when there is something new', async () => {
    const { updates } = await runTool({ updateIntervalMs: 20 }, 'echo a; sleep .4; exit 1');
    const texts = updates.map((update) => update.stdout);
    // On a busy machine a first update may come before the output.
    expect(texts).toEqual(texts[0] === '' ? ['', 'a\n'] : ['a\n']);
  });

  it('are throttled to four a second', async () => {
    const { updates, durationMs } = await runTool({}, 'for i in $(seq 100); do echo $i; sleep .01; done');
    expect(updates.length).toBeGreaterThanOrEqual(2);
    expect(updates.length).toBeLessThanOrEqual(durationMs / 250 + 1);
  });

  it('show a capped tail', async () => {
    const { updates } = await runTool({ updateIntervalMs: 50, spill: false }, 'seq 100000; sleep .5');
    const last = updates.at(-1)?.stdout ?? '';
    expect(last.endsWith('99999\n100000\n')).toBe(true);
    expect(Buffer.byteLength(last)).toBeLessThanOrEqual(8 * 1024);
  });

  it('are off with 0', async () => {
    const run = vi.fn<BashRunner>(bash);
    const { updates } = await runTool({ run, updateIntervalMs: 0 }, 'echo a; sleep .6');
    expect(updates).toEqual([]);
    expect(run.mock.calls[0]?.[1]).not.toHaveProperty('onSnapshot');
  });

  it.each([
    [undefined, 250],
    [1, 10],
    [99.6, 100],
    [1e9, 60_000],
  ])('come every %s ms: %d', async (updateIntervalMs, expected) => {
    const run = vi.fn<BashRunner>(bash);
    await runTool({ run, updateIntervalMs }, 'true');
    expect(run.mock.calls[0]?.[1]).toMatchObject({ snapshotIntervalMs: expected });
  });

  it('do not hold the command back if they are not consumed', async () => {
    const cwd = folder();
    const tool = createBashTool({ cwd, updateIntervalMs: 10 });
    const path = join(cwd, 'end');
    const command = 'for i in 1 2 3 4 5; do echo $i; sleep .03; done; echo done > end';
    const outputs: BashToolOutput[] = [];
    for await (const output of tool.execute({ command }, { toolCallId: '1' })) {
      if (outputs.length === 0)
        await vi.waitFor(async () => expect(await readFile(path, 'utf8')).toBe('done\n'), 5_000);
      outputs.push(output);
    }
    expect(outputs.length).toBeLessThanOrEqual(3);
    expect(outputs.at(-1)).toMatchObject({ stdout: '1\n2\n3\n4\n5\n' });
  });
});

describe('live', () => {
  async function collect<U, R>(following: AsyncGenerator<U, R, undefined>): Promise<{ updates: U[]; result: R }> {
    const updates: U[] = [];
    for (;;) {
      const next = await following.next();
      if (next.done) return { updates, result: next.value };
      updates.push(next.value);
    }
  }

  it('keeps only the newest update', async () => {
    const following = live<number, string>(async (push) => {
      push(1);
      push(2);
      await new Promise(setImmediate);
      push(3);
      return 'end';
    });
    expect(await collect(following)).toEqual({ updates: [2, 3], result: 'end' });
  });

  it('hands on a rejection', async () => {
    const following = live<number, string>(async (push) => {
      push(1);
      await new Promise(setImmediate);
      throw new Error('broken');
    });
    await expect(collect(following)).rejects.toThrow('broken');
  });
});
