import { expect, test } from 'vitest';
import { chart, figures, type Results } from '../../bench/chart.mjs';
import { page, source } from './examples.ts';

const results: Results = JSON.parse(await source('bench/results.json'));
const svg = await page('benchmarks.svg');
const readme = await source('README.md');

test('the chart is drawn from the results that are checked in', () => {
  expect(svg).toBe(chart(results));
});

test('the figures of the README are those of the results', () => {
  const { start, warm } = figures(results);
  const told = `${start['agent-bash']?.toFixed(1)} times as long as a bare \`posix_spawn\` of bash, and ${warm.toFixed(1)} times with`;
  expect(readme.replace(/\s+/g, ' ')).toContain(told);
});

test('README and page show the chart, and say how it is made', async () => {
  const benchmarks = await source('bench/README.md');
  expect(readme).toMatch(/!\[[^\]]+\]\(docs\/benchmarks\.svg\)/);
  expect(benchmarks).toMatch(/!\[[^\]]+\]\(\.\.\/docs\/benchmarks\.svg\)/);
  for (const text of [readme, benchmarks]) expect(text).toContain('npm run bench -- --chart');
});

test('other results give another chart', () => {
  const other = structuredClone(results);
  for (const { lines } of other.report) for (const line of lines) line.value *= 2;
  expect(chart(other)).not.toBe(svg);
  expect(figures(other).warm).toBe(2 * figures(results).warm);
});

test('results without a row are named, never drawn as nothing', () => {
  const without = { ...results, report: results.report.filter(({ row }) => row !== 'heap') };
  expect(() => chart(without)).toThrow('agent-bash, large ÷ small');
});

/** The relative luminance of a colour, as WCAG counts it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\w\w/g) ?? []).map((pair) => {
    const part = Number.parseInt(pair, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test.each(['light', 'dark'])('it can be read in a %s scheme, wherever it is shown', (scheme) => {
  const [light = '', dark = ''] = svg.split('@media (prefers-color-scheme: dark)');
  const style = scheme === 'light' ? light : dark;
  const fill = (name: string) => new RegExp(`${name} \\{[^}]*fill: (#\\w{6})`).exec(style)?.[1] ?? '';
  const paper = fill('.page');
  // Text by WCAG's AA, bars by its rule for graphics.
  for (const name of ['text', '.foot']) expect(contrast(fill(name), paper)).toBeGreaterThanOrEqual(4.5);
  for (const name of ['.ours', '.other']) expect(contrast(fill(name), paper)).toBeGreaterThanOrEqual(3);
});

test('it is one file that runs nothing, loads nothing and is accessible to screen readers', () => {
  expect(svg).not.toMatch(/<script|href=|url\(|@import| on\w+=/i);
  expect(svg).toMatch(/^<svg [^>]*role="img">\n {2}<title>.+<\/title>\n {2}<desc>.+<\/desc>/);
  // Every text lies on the page.
  const [, width = 0, height = 0] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
  for (const [, x = 0, y = 0] of svg.matchAll(/<text[^>]* x="(\d+)" y="(\d+)"/g)) {
    expect(Number(x)).toBeLessThan(Number(width) - 60);
    expect(Number(y)).toBeLessThan(Number(height));
  }
});
