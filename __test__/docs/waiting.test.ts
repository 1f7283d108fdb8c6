import { expect, test } from 'vitest';
import { page, source, spans, table } from './examples.ts';

const waiting = await page('waiting.md');

test('the words of the note are those of the source', async () => {
  const words = table(waiting, 'The note at the limit').flatMap((cells) => spans(cells.at(-1) ?? ''));
  const told = (await source('src/supervise/waits/wait.rs'))
    .replace(/\{end_of\(path\)\}|\{\}/g, '/tmp/p')
    .replaceAll('{fd}', '\\d');
  expect(words).toHaveLength(9);
  for (const word of words) expect(told.replaceAll('\\d', /\d/.exec(word)?.[0] ?? '')).toContain(word);
});

// A number of the source, and the words of the page that speak of it.
test.each([
  ['src/supervise/waits/look.rs', 'BOUND: Duration = Duration::from_millis(100)', 'for at most 100 ms'],
  ['src/supervise/waits/look.rs', 'OTHERS: Duration = Duration::from_millis(300)', 'for at most 300 ms'],
  ['src/supervise/waits/look.rs', 'MOST: usize = 400', 'more than 400 processes'],
  ['src/supervise/waits/look.rs', 'COMMAND: usize = 100', 'cut at about 100 characters'],
  ['src/sys/linux/calls.rs', 'SOON: u64 = 3_500', 'anew within 3.5 s'],
  ['src/run/waits.rs', 'QUIET: Duration = Duration::from_millis(300)', 'quiet for 300 ms'],
  ['src/run/waits.rs', 'AGAIN: Duration = Duration::from_millis(500)', 'every 500 ms'],
])('%s: %s', async (path, number, words) => {
  expect(await source(path)).toContain(number);
  expect(waiting.replace(/\s+/g, ' ')).toContain(words);
});
