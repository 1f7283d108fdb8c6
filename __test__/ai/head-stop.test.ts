import type { BashResult } from 'agent-bash';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AFTER_LAST_LINE_MS, HeadStop } from '../../ts/tool/call/line-limits.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const stdout = (text: string) => ({ stream: 'stdout', text }) as const;
const aborted = { status: 'aborted', exitCode: 130, signal: 'SIGTERM', notes: [] } as unknown as BashResult;

it('counts its two seconds from the last wanted line', () => {
  const end = vi.fn();
  const stop = new HeadStop(2, end);
  stop.onOutput(stdout('a\n'));
  vi.advanceTimersByTime(10 * AFTER_LAST_LINE_MS);
  stop.onOutput(stdout('b\n'));
  vi.advanceTimersByTime(AFTER_LAST_LINE_MS - 1);
  stop.onOutput(stdout('more\n'));
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(end).toHaveBeenCalledOnce();
  expect(stop.outcome(aborted, false)).toMatchObject({ status: 'exited', exitCode: 0, signal: null });
});

it('ends no command that lacks its lines, nor one for lines of stderr', () => {
  const end = vi.fn();
  const stop = new HeadStop(2, end);
  stop.onOutput(stdout('a\nb'));
  stop.onOutput({ stream: 'stderr', text: 'x\n'.repeat(9) });
  vi.advanceTimersByTime(10 * AFTER_LAST_LINE_MS);
  expect(end).not.toHaveBeenCalled();
  expect(stop.outcome(aborted, false)).toBe(aborted);
});

it('ends no command that has exited in time', () => {
  const end = vi.fn();
  const stop = new HeadStop(1, end);
  stop.onOutput(stdout('a\n'));
  stop.close();
  vi.advanceTimersByTime(10 * AFTER_LAST_LINE_MS);
  expect(end).not.toHaveBeenCalled();
});

it('holds the pipe of a command that floods it, until it is ended', async () => {
  const stop = new HeadStop(1, vi.fn());
  stop.onOutput(stdout('a\n'));
  const held = stop.onOutput(stdout('x'.repeat(17 * 1024 * 1024)));
  expect(held).toBeInstanceOf(Promise);
  vi.advanceTimersByTime(AFTER_LAST_LINE_MS);
  await held;
});

it('leaves the abort of the caller an abort', () => {
  const stop = new HeadStop(1, vi.fn());
  stop.onOutput(stdout('a\n'));
  vi.advanceTimersByTime(AFTER_LAST_LINE_MS);
  expect(stop.outcome(aborted, true)).toBe(aborted);
});
