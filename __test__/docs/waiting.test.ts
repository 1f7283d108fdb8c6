import { expect, test } from 'vitest';
import { facts, time } from './built.ts';
import { page, spans, table } from './examples.ts';

const HEADING = 'Commands that wait for input';
const terminals = await page('terminals.md');
const waiting = terminals.slice(terminals.indexOf(`\n## ${HEADING}\n`));

test('the page has an example of each note', () => {
  const words = table(waiting, HEADING).flatMap((cells) => spans(cells.at(-1) ?? ''));
  expect(words).toHaveLength(facts.blockedNotes.length);
  for (const note of facts.blockedNotes) expect(words.filter((word) => note.includes(word))).toHaveLength(1);
});

const { supervise } = facts;

test.each([
  `more than ${supervise.blocked.most} processes`,
  `cut at about ${supervise.blocked.commandChars} characters`,
  `anew within ${time(facts.blockedSoonMs)}`,
])('the page says: %s', (words) => {
  expect(waiting.replace(/\s+/g, ' ')).toContain(words);
});
