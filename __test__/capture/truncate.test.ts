import { readFileSync } from 'node:fs';
import { type BashOptions, bash, TRUNCATE, type Truncate } from 'agent-bash';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chomp, folder, hasLoneSurrogate, seq } from '../support/index.ts';

const cat = (stdin: string, truncate: Truncate, options: BashOptions = {}) =>
  bash('cat', { stdin, truncate, spill: false, ...options });

/** The text of a cut stream without its notice, which has its own lines at the end. */
function parted(text: string, notice: RegExp): [string, string] {
  const end = chomp(text);
  const found = notice.exec(end);
  if (!found) throw new Error(`no notice ${notice} in ${JSON.stringify(end.slice(-300))}`);
  expect(found.index + found[0].length).toBe(end.length);
  expect(found.index === 0 || end[found.index - 1] === '\n').toBe(true);
  return [end.slice(0, found.index), found[0]];
}

describe('tail', () => {
  test('the default: the last 2000 lines; a cut by lines alone writes no file', async () => {
    const { stdout, truncation } = await bash('seq 8500');
    expect(chomp(stdout)).toBe(`${seq(6501, 8500)}[stdout: Showing last 2000 of 8500 lines]`);
    expect(truncation.stdout).toMatchObject({
      keep: 'tail',
      by: 'lines',
      totalLines: 8500,
      totalBytes: seq(1, 8500).length,
      outputLines: 2000,
      outputBytes: seq(6501, 8500).length,
      firstLine: 6501,
      lastLine: 8500,
      partialLine: false,
      path: null,
      artifactId: null,
      spillError: null,
      notice: '[stdout: Showing last 2000 of 8500 lines]',
    });
    expect(truncation.stderr).toBeNull();
  });

  test('with a file, when the bytes exceed the limit too', async () => {
    const { stdout, truncation } = await bash('seq 20000', { spill: { dir: folder() } });
    const path = truncation.stdout?.path ?? '';
    expect(readFileSync(path, 'utf8')).toBe(seq(1, 20_000));
    expect(chomp(stdout)).toBe(
      `${seq(18_001, 20_000)}[stdout: Showing last 2000 of 20000 lines. Full output: ${path}]`,
    );
    expect(truncation.stdout?.by).toBe('lines');
  });

  test('the default: 50 KiB, whole lines', async () => {
    const line = 'x'.repeat(99);
    const { stdout, truncation } = await bash(`for i in {1..1000}; do echo ${line}; done`, { spill: false });
    expect(chomp(stdout)).toBe(`${`${line}\n`.repeat(512)}[stdout: Showing last 512 of 1000 lines]`);
    expect(truncation.stdout).toMatchObject({
      by: 'bytes',
      outputLines: 512,
      outputBytes: 51_200,
      firstLine: 489,
      lastLine: 1000,
    });
  });

  test('stderr has its own limits and its own name in the notice', async () => {
    const { stdout, stderr, truncation } = await bash('seq 3; seq 2500 >&2');
    expect(stdout).toBe('1\n2\n3\n');
    expect(chomp(stderr)).toBe(`${seq(501, 2500)}[stderr: Showing last 2000 of 2500 lines]`);
    expect(truncation.stdout).toBeNull();
    expect(truncation.stderr?.notice).toBe('[stderr: Showing last 2000 of 2500 lines]');
  });

  test('a line longer than the limit keeps its own tail', async () => {
    const { stdout, truncation } = await cat(`first\n${'a'.repeat(500)}${'z'.repeat(50)}`, {
      keep: 'tail',
      maxBytes: 100,
    });
    const [text] = parted(stdout, /\[stdout: .*\]$/);
    expect(chomp(text)).toBe('a'.repeat(50) + 'z'.repeat(50));
    expect(truncation.stdout).toMatchObject({
      by: 'bytes',
      partialLine: true,
      firstLine: 2,
      lastLine: 2,
      outputBytes: 100,
      totalLines: 2,
    });
  });

  test.each([
    ['an unfinished last line counts', 'a\nb\nc', 2, 'b\nc', 3],
    ['a finished one is no line more', 'a\nb\nc\n', 2, 'b\nc\n', 3],
    ['empty lines are lines', 'a\n\n\n\n', 2, '\n\n', 4],
  ])('%s', async (_, stdin, maxLines, text, totalLines) => {
    const { stdout, truncation } = await cat(stdin, { keep: 'tail', maxLines });
    const notice = `[stdout: Showing last ${maxLines} of ${totalLines} lines]`;
    expect(chomp(stdout)).toBe(`${text.endsWith('\n') ? text : `${text}\n`}${notice}`);
    expect(truncation.stdout).toMatchObject({ totalLines, outputLines: maxLines, outputBytes: text.length });
  });

  test('by characters, which counts UTF-16 units', async () => {
    const { stdout, truncation } = await cat('😀'.repeat(100), { keep: 'tail', maxChars: 11 });
    const [text, notice] = parted(stdout, /\[stdout: .*\]$/);
    expect(chomp(text)).toBe('😀'.repeat(5));
    expect(notice).toBe('[stdout: Showing last 10 of 200 characters]');
    expect(truncation.stdout).toMatchObject({ by: 'chars', totalBytes: 400, outputBytes: 20, partialLine: true });
  });

  test('exactly at the limits nothing is cut', async () => {
    for (const truncate of [
      { maxLines: 3 },
      { maxBytes: 6 },
      { maxChars: 6 },
      { maxLines: 3, maxBytes: 6, maxChars: 6 },
    ]) {
      for (const keep of ['tail', 'head'] as const) {
        const result = await cat('a\nb\nc\n', { keep, ...truncate });
        expect(result).toMatchObject({ stdout: 'a\nb\nc\n', truncation: { stdout: null } });
      }
    }
  });

  test('without any limit 16 MiB are kept', async () => {
    const { stdout, truncation } = await bash('head -c 17000000 /dev/zero | tr "\\0" x', {
      truncate: { keep: 'tail' },
      spill: false,
    });
    expect(truncation.stdout).toMatchObject({ by: 'bytes', totalBytes: 17_000_000, outputBytes: 16 << 20 });
    expect(stdout.startsWith('x'.repeat(1000))).toBe(true);
    const whole = await bash('seq 200000', { truncate: { keep: 'tail' } });
    expect(whole.stdout === seq(1, 200_000)).toBe(true);
    expect(whole.truncation.stdout).toBeNull();
  });

  test('a limit over 16 MiB is that', async () => {
    const truncate = { keep: 'head', maxBytes: 1 << 30 } as const;
    const { truncation } = await bash('head -c 17000000 /dev/zero | tr "\\0" x', { truncate, spill: false });
    expect(truncation.stdout).toMatchObject({ totalBytes: 17_000_000, outputBytes: 16 << 20 });
  });
});

describe('head', () => {
  test('by characters, with a file', async () => {
    const { stdout, truncation } = await bash('seq 200000', { truncate: TRUNCATE.head, spill: { dir: folder() } });
    const path = truncation.stdout?.path;
    const total = seq(1, 200_000);
    expect(chomp(stdout)).toBe(
      `${total.slice(0, 30_000)}${total[29_999] === '\n' ? '' : '\n'}[truncated]\n[stdout: Showing first 30000 of ${total.length} characters. Full output: ${path}]`,
    );
    expect(truncation.stdout).toMatchObject({
      keep: 'head',
      by: 'chars',
      outputBytes: 30_000,
      firstLine: 1,
      totalLines: 200_000,
    });
    expect(readFileSync(path ?? '', 'utf8')).toBe(total);
  });

  test('by lines', async () => {
    const { stdout, truncation } = await bash('seq 100', { truncate: { keep: 'head', maxLines: 7 } });
    expect(chomp(stdout)).toBe(`${seq(1, 7)}[truncated]\n[stdout: Showing first 7 of 100 lines]`);
    expect(truncation.stdout).toMatchObject({
      keep: 'head',
      by: 'lines',
      firstLine: 1,
      lastLine: 7,
      partialLine: false,
      path: null,
    });
  });

  test('by bytes it cuts inside a line if need be', async () => {
    const { stdout, truncation } = await cat('12345\n67890\nabcde\n', { keep: 'head', maxBytes: 9 });
    expect(chomp(stdout)).toBe('12345\n678\n[truncated]\n[stdout: Showing first 2 of 3 lines]');
    expect(truncation.stdout).toMatchObject({
      by: 'bytes',
      partialLine: true,
      firstLine: 1,
      lastLine: 2,
      outputBytes: 9,
      outputLines: 2,
    });
  });

  test('whichever limit is hit first', async () => {
    const text = seq(1, 1000);
    const by = async (truncate: object) => (await cat(text, { keep: 'head', ...truncate })).truncation.stdout?.by;
    expect(await by({ maxLines: 5, maxBytes: 1000 })).toBe('lines');
    expect(await by({ maxLines: 500, maxBytes: 10 })).toBe('bytes');
    expect(await by({ maxLines: 500, maxBytes: 1000, maxChars: 3 })).toBe('chars');
  });
});

describe('ends', () => {
  const ends = (maxBytes: number, headBytes: number, tailBytes: number) =>
    ({ keep: 'ends', maxBytes, headBytes, tailBytes }) as const;

  test('the preset: 128 KiB, 4 KiB each end', async () => {
    const text = `H${'x'.repeat(319_486)}T`;
    const { stdout, truncation } = await bash('cat', {
      stdin: text,
      truncate: TRUNCATE.ends,
      spill: { dir: folder() },
    });
    const path = truncation.stdout?.path;
    expect(chomp(stdout)).toBe(
      `[output truncated in middle: got 312kB, max is 128kB]\n${text.slice(0, 4096)}\n\n[snip]\n\n${text.slice(-4096)}\n[stdout: Full output: ${path}]`,
    );
    expect(readFileSync(path ?? '', 'utf8')).toBe(text);
    expect(truncation.stdout).toMatchObject({ keep: 'ends', by: 'bytes', totalBytes: 319_488, outputBytes: 8192 });
  });

  test('whole up to `maxBytes`', async () => {
    const text = 'x'.repeat(131_072);
    expect(await bash('cat', { stdin: text, truncate: TRUNCATE.ends })).toMatchObject({
      stdout: text,
      truncation: { stdout: null },
    });
  });

  test('without a file there is no last line', async () => {
    const { stdout } = await cat(`${'a'.repeat(3000)}${'b'.repeat(3000)}`, ends(2048, 10, 20));
    expect(chomp(stdout)).toBe(
      `[output truncated in middle: got 6kB, max is 2kB]\n${'a'.repeat(10)}\n\n[snip]\n\n${'b'.repeat(20)}`,
    );
  });

  test('cuts fall on characters', async () => {
    const { stdout } = await cat('😀'.repeat(100), ends(100, 10, 11));
    expect(hasLoneSurrogate(stdout)).toBe(false);
    expect(stdout).not.toContain('\uFFFD');
    expect(stdout.match(/😀/gu)).toHaveLength(4);
  });

  test('head and tail together as large as the limit', async () => {
    const { stdout, truncation } = await cat(seq(1, 1000), ends(100, 50, 50));
    expect(stdout).toContain('\n\n[snip]\n\n');
    expect(truncation.stdout?.outputBytes).toBeLessThanOrEqual(100);
  });
});

describe('the notice', () => {
  test('when writing out failed, without a place', async () => {
    const { stdout, truncation } = await bash('seq 20000', { spill: { dir: '/dev/null/nowhere' } });
    expect(truncation.stdout).toMatchObject({ path: null, artifactId: null });
    const error = truncation.stdout?.spillError ?? '';
    expect(error).not.toBe('');
    expect(Buffer.byteLength(error)).toBeLessThanOrEqual(80);
    const notice = `[stdout: Showing last 2000 of 20000 lines. The full output could not be kept: ${error}]`;
    expect(chomp(stdout).endsWith(`\n${notice}`)).toBe(true);
    expect(truncation.stdout?.notice).toBe(notice);
  });

  test('when the file reached its limit', async () => {
    const { stdout, truncation } = await bash('seq 20000', { spill: { dir: folder(), maxBytes: 60_000 } });
    const { path, spillError } = truncation.stdout ?? {};
    const notice = `[stdout: Showing last 2000 of 20000 lines. Full output file may be incomplete: ${path} (${spillError})]`;
    expect(chomp(stdout).endsWith(`\n${notice}`)).toBe(true);
    expect(truncation.stdout?.notice).toBe(notice);
    expect(readFileSync(path ?? '', 'utf8')).toBe(seq(1, 20_000).slice(0, 60_000));
  });

  test('is at most 200 bytes and the path', async () => {
    const dir = folder();
    for (const truncate of [TRUNCATE.tail, TRUNCATE.ends, TRUNCATE.head]) {
      for (const maxBytes of [60_000, 1 << 30]) {
        const { truncation } = await bash('seq 200000', { truncate, spill: { dir, maxBytes } });
        const { notice = '', path } = truncation.stdout ?? {};
        expect(Buffer.byteLength(notice) - Buffer.byteLength(path ?? '')).toBeLessThanOrEqual(200);
      }
    }
  });

  test('of a limit, an abort and a failure alike', async () => {
    const { stdout } = await bash('seq 8500; sleep 20', { timeoutMs: 1_500 });
    expect(chomp(stdout)).toBe(`${seq(6501, 8500)}[stdout: Showing last 2000 of 8500 lines]`);
  });

  test('with `merge` the stream is stdout', async () => {
    const { stdout } = await bash('seq 2000; seq 2001 2500 >&2', { merge: true });
    expect(chomp(stdout)).toBe(`${seq(501, 2500)}[stdout: Showing last 2000 of 2500 lines]`);
  });
});

test('figures are of the sanitized stream', async () => {
  const { truncation } = await bash(
    'for i in {1..3000}; do printf \'\\x1b[31m10%%\\r%s\\x1b[0m\\r\\n\' "$i%%%%"; done',
    { spill: false },
  );
  expect(truncation.stdout).toMatchObject({ totalLines: 3000, outputLines: 2000 });
});

test('any text under any limit: the kept part is a part of it, within the limit, and the figures are right', async () => {
  const characters = fc.constantFrom('a', 'b', '\n', 'é', '漢', '😀', '\t', ' ');
  const policy = fc.record({
    keep: fc.constantFrom('tail' as const, 'head' as const),
    maxLines: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    maxBytes: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    maxChars: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: characters, maxLength: 80 }), policy, async (text, limits) => {
      const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Truncate;
      const { stdout, truncation } = await cat(text, given);
      const cut = truncation.stdout;
      const { keep, maxLines = 1e9, maxBytes = 1e9, maxChars = 1e9 } = limits;
      const lines = text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
      const over = lines > maxLines || Buffer.byteLength(text) > maxBytes || text.length > maxChars;
      expect(cut !== null).toBe(over);
      if (!cut) {
        expect(stdout).toBe(text);
        return;
      }
      expect(cut).toMatchObject({ keep, totalLines: lines, totalBytes: Buffer.byteLength(text) });
      const bytes = Buffer.from(text);
      const kept = (
        keep === 'tail' ? bytes.subarray(bytes.length - cut.outputBytes) : bytes.subarray(0, cut.outputBytes)
      ).toString();
      expect(Buffer.byteLength(kept)).toBe(cut.outputBytes);
      expect(stdout.startsWith(kept)).toBe(true);
      expect(cut.outputBytes).toBeLessThanOrEqual(maxBytes);
      expect(kept.length).toBeLessThanOrEqual(maxChars);
      expect(kept.split('\n').length - (kept.endsWith('\n') || kept === '' ? 1 : 0)).toBeLessThanOrEqual(maxLines);
      expect(stdout.slice(kept.length)).toMatch(
        /^\n?(\[truncated\]\n)?\[stdout: Showing (last|first) \d+ of \d+ (lines|characters)\]\n?$/,
      );
    }),
    { numRuns: 150 },
  );
});
