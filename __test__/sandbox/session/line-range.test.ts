import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineRange } from '../../../ts/sandbox/session/line-range.ts';
import { sessionInFolder } from './support.ts';

/** The lines of a whole text. */
function slow(text: string, first: number, last: number): string {
  const end = ['\r\n', '\n', '\r'].find((each) => text.includes(each)) ?? '\n';
  return text
    .split(end)
    .slice(first - 1, last)
    .join(end);
}

test('pieces of a text give the lines of the whole', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '\r', '\n', '\r\n', 'x'.repeat(20_000)), { maxLength: 30 });
  fc.assert(
    fc.property(text, fc.nat(12), fc.nat(12), (pieces, first, count) => {
      const whole = pieces.join('');
      // Beyond its beginning a file keeps the terminator that it has there.
      fc.pre(whole.length <= 64 * 1024);
      const range = new LineRange(first, first + count);
      for (const piece of pieces) range.push(piece);
      expect(range.finish()).toBe(slow(whole, Math.max(1, first), first + count));
    }),
  );
});

test.each(['\n', '\r\n', '\r'])('a long text with one terminator, cut anywhere: %j', (end) => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index}${'.'.repeat(index % 7)}`);
  const whole = lines.join(end);
  for (const size of [1, 7, 65_536, 65_537]) {
    for (const [first, last] of [
      [1, 3],
      [9_000, 9_002],
      [29_999, 40_000],
    ] as const) {
      const range = new LineRange(first, last);
      for (let at = 0; at < whole.length && !range.done; at += size) range.push(whole.slice(at, at + size));
      expect(range.finish()).toBe(lines.slice(first - 1, last).join(end));
    }
  }
});

test('a first line of any length', () => {
  const long = 'x'.repeat(200_000);
  const range = new LineRange(2, 2);
  for (const piece of [long, '\r', '\nsecond\r\nthird']) range.push(piece);
  expect(range.finish()).toBe('second');
});

test('the first lines of a file of many GB, in each encoding', async () => {
  const { folder, session } = await sessionInFolder();
  const path = join(folder, 'huge');
  for (const encoding of ['utf-8', 'utf-16le', 'latin1', 'shift_jis'] as const) {
    await writeFile(path, Buffer.from('one\ntwo\nthree\n', encoding === 'utf-16le' ? 'utf-16le' : 'latin1'));
    const file = await open(path, 'r+');
    // The rest is a hole, larger than a string can be.
    await file.truncate(8 * 1024 ** 3);
    await file.close();
    expect(await session.readTextFile({ path, encoding, startLine: 2, endLine: 3 })).toBe('two\nthree');
  }
});

test('a character that two pieces share is whole', async () => {
  const { folder, session } = await sessionInFolder();
  const path = join(folder, 'wide');
  await writeFile(path, `a${'日本'.repeat(100_000)}\nlast`);
  const [first, last] = [
    await session.readTextFile({ path, endLine: 1 }),
    await session.readTextFile({ path, startLine: 2 }),
  ];
  expect(first === `a${'日本'.repeat(100_000)}`).toBe(true);
  expect(last).toBe('last');
});
