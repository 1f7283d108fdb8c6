import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../support/index.ts';
import { Pages } from '../support.ts';
import { about, browserTest, openTab } from './tab.ts';

/** Bound of the first paint on a busy machine, ms. `npm run bench -- --only page` measures the real time. */
const PAINT_MS = 5_000;

browserTest('the code is removed from the address, and a reloaded tab is still signed in', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  const tab = await openTab(page);
  expect(tab.url()).toBe(`${page.origin}/`);
  await tab.reload();
  await tab.getByText(/^Live$/).waitFor();
  expect(await tab.evaluate('document.cookie + localStorage.length')).toBe('0');
  const paint = await tab.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`);
  expect(paint).toBeLessThan(PAINT_MS);
});

browserTest('a tab without a code says how to get one', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  const tab = await openTab(page);
  const other = await tab.context().newPage();
  await other.goto(page.origin);
  await other.getByText('This tab is not signed in').waitFor();
  await other.close();
});

browserTest('a page whose server has ended says since when and no longer says Live', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  pages.host(`bash('exec sleep 1000', { timeoutMs: 600_000 }).catch(() => {});`);
  const tab = await openTab(page, {}, [/ERR_|Failed to load/]);
  await tab.locator('[data-run]').waitFor();
  page.host.process.kill('SIGKILL');
  await tab
    .getByRole('alert')
    .getByText(/^Not connected since/)
    .waitFor();
  await tab.getByText('Not connected', { exact: true }).waitFor();
});

browserTest('output follows its end until a person scrolls', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  const host = pages.host(`
    const loop = (from, to) => 'for ((i = ' + from + '; i <= ' + to + '; i++)); do echo "line $i"; done';
    const wait = 'until [ -e ' + ${JSON.stringify(pages.state)} + '/go ]; do sleep 0.05; done';
    bash([loop(1, 300), wait, loop(301, 420), 'exec sleep 1000'].join('; '), { timeoutMs: 600_000 }).catch(() => {});`);
  const tab = await openTab(page);
  await tab.locator('button.open').first().click();
  const log = tab.getByRole('log', { name: 'Output' });
  await log.getByText('line 300').waitFor();
  const fromEnd = () => about<number>(log, 'one.scrollHeight - one.scrollTop - one.clientHeight');
  await until(async () => (await fromEnd()) < 32, 'it follows');
  await tab.setViewportSize({ width: 500, height: 700 });
  await until(async () => (await fromEnd()) < 32, 'it follows in a narrow window, too');
  await tab.setViewportSize({ width: 1_280, height: 800 });
  await until(async () => (await fromEnd()) < 32, 'it follows in a wide one');
  await log.hover();
  await tab.mouse.wheel(0, -2_000);
  await until(async () => (await fromEnd()) > 500, 'it was scrolled');
  const before = await about<number>(log, 'one.scrollTop');
  writeFileSync(join(pages.state, 'go'), '');
  await tab.locator('[data-run]', { hasText: 'line 420' }).waitFor();
  await log.getByText('line 420').waitFor();
  expect(Math.abs((await about<number>(log, 'one.scrollTop')) - before)).toBeLessThan(5);
  expect(await tab.getByRole('button', { name: 'Follow', exact: true }).getAttribute('aria-pressed')).toBe('false');
  await tab.getByRole('button', { name: 'Follow', exact: true }).click();
  await until(async () => (await fromEnd()) < 32, 'it follows again');
  void host;
});

browserTest('a search finds lines, counts them and goes from one to the next', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  pages.host(
    `bash('for ((i = 1; i <= 200; i++)); do echo "line $i of 200"; done; exec sleep 1000', { timeoutMs: 600_000 }).catch(() => {});`,
  );
  const tab = await openTab(page);
  await tab.locator('button.open').first().click();
  await tab.getByRole('log', { name: 'Output' }).getByText('line 200 of').waitFor();
  await tab.getByLabel('Search').fill('LINE 19');
  await tab.getByText('11 lines', { exact: true }).waitFor();
  expect(await tab.evaluate(`CSS.highlights.get('found').size`)).toBe(11);
  await tab.getByRole('button', { name: 'Next' }).click();
  await tab.getByText('1 of 11', { exact: true }).waitFor();
  await tab.getByRole('button', { name: 'Previous' }).click();
  await tab.getByText('11 of 11', { exact: true }).waitFor();
});
