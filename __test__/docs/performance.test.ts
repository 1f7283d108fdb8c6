import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Results } from '../../bench/chart.mjs';
import { facts, share } from './built.ts';
import { page, source } from './examples.ts';

const NAME = 'performance.md';
const place = /(<!-- figures: [^\n]* -->\n\n)(.*?)(\n<!-- end -->)/s;
const results: Results = JSON.parse(await source('bench/results.json'));

function value(row: string, what: string): number {
  const line = results.report.find((one) => one.row === row)?.lines.find((one) => one.what === what);
  if (!line) throw new Error(`the results have no ${what} in ${row}`);
  return line.value;
}

const ratio = (row: string, what: string) => {
  const number = value(row, what);
  return `${number < 10 ? number.toFixed(1) : Math.round(number)} ×`;
};
const ms = (row: string, what: string) => {
  const number = value(row, what);
  return `${number < 10 ? number.toFixed(2) : Math.round(number)} ms`;
};

const rows = [
  ['start of `true`', ratio('start', 'agent-bash ÷ baseline'), ratio('start', 'spawn ÷ baseline')],
  [
    'the same with a warm shell, 10 ms after the last command',
    ratio('shells', "warm: bash('true') ÷ baseline"),
    'none',
  ],
  ['`true` in a session, 10 ms after the last command', ratio('shells', "session.run('true') ÷ baseline"), 'none'],
  ['`true` in a session, without a pause', ratio('shells', "session.run('true') without pauses ÷ baseline"), 'none'],
  [
    'start with 2 GB resident in Node, against a small one',
    ratio('heap', 'agent-bash, large ÷ small'),
    ratio('heap', 'spawn, large ÷ small'),
  ],
  [
    'part of the call that blocks the event loop, with 2 GB',
    ms('heap', 'agent-bash, synchronous part of the call'),
    ms('heap', 'spawn, synchronous part of the call'),
  ],
];
const table = `| what | agent-bash | Node's \`spawn\` |\n|---|---|---|\n${rows.map((row) => `| ${row.join(' | ')} |\n`).join('')}`;

// After new results: UPDATE_DOCS=1 npm test -- docs/performance
if (process.env.UPDATE_DOCS === '1') {
  const text = (await page(NAME)).replace(place, (_, start, __, end) => start + table + end);
  await writeFile(join(import.meta.dirname, '../../docs', NAME), text);
}

test('the page has the figures of the results that are checked in', async () => {
  expect(place.exec(await page(NAME))?.[2]).toBe(table);
});

/** A table's row on another page, whose figures this page repeats. */
async function cells(name: string, start: string): Promise<string[]> {
  const line = (await page(name)).split('\n').find((one) => one.startsWith(`| ${start} |`)) ?? '';
  return line.slice(2, -2).split(' | ');
}

test('the costs are those of the pages that measured them', async () => {
  const text = (await page(NAME)).replace(/\s+/g, ' ');
  const [, , lossless = '', salient = ''] = await cells('tokens.md', 'build, test');
  const percent = (cell: string) => `${Math.round(Number.parseFloat(cell))} %`;
  expect(text).toContain(`\`'lossless'\` saves ${percent(lossless)} and \`'salient'\` ${percent(salient)}`);
  const benchmarks = (await source('bench/README.md')).replace(/\s+/g, ' ');
  for (const target of ['0.1 ms p50 for 100 bytes', '≤ 0.3 ms more for `true`', 'at most 3 ms more than without']) {
    expect(benchmarks).toContain(target);
  }
  expect(text).toContain(`take ${share(facts.supervise.limits.share)} of one core at most`);
});
