import type { Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { busy, RUNS } from '../../page/browser/busy.ts';
import { browserTest } from '../../page/browser/tab.ts';

/** Scrolls to each control, and returns the names of those that something hides nevertheless. */
const COVERED = `controls().filter((one) => {
    // It is shown while it has the focus.
    if (one.matches('.skip')) return false;
    one.scrollIntoView({ block: 'center' });
    const { x, y, width, height } = one.getBoundingClientRect();
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    // The button of a row covers it.
    return top !== one && !one.contains(top) && !top?.contains(one) && !top?.closest('[data-run]')?.contains(one);
  }).map(nameOf)`;
const SIDEWAYS = `[document.documentElement, ...document.querySelectorAll('body *:not(.log, .log *)')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && (one.tagName === 'HTML' || /auto|scroll/.test(getComputedStyle(one).overflowX)))
  .map((one) => one.tagName + ' ' + one.className)`;
const NAMES = `controls().filter((one) => !one.closest('.act-row')).map(nameOf)`;

/** Opens the states of the page. Returns the names of all controls but those of rows, which the open run has, too. */
async function controlsOf(tab: BrowserPage): Promise<Set<string>> {
  const names = new Set<string>();
  const look = async (state: string) => {
    expect(await tab.evaluate(COVERED), state).toEqual([]);
    expect(await tab.evaluate(SIDEWAYS), state).toEqual([]);
    for (const name of await tab.evaluate<string[]>(NAMES)) names.add(name);
  };
  const back = tab.getByRole('button', { name: 'Back' });
  if (await back.isVisible()) await back.click();
  await look('Now');
  for (const [name, shown] of RUNS) {
    await tab.getByRole('button', { name }).first().click();
    await tab.locator('.detail').getByText(shown).waitFor();
    await look(`${name}`);
    if (await back.isVisible()) await back.click();
  }
  for (const view of ['History', 'Ports']) {
    await tab.getByRole('tab', { name: view }).click();
    await tab.locator('.grid tr[data-run]').first().waitFor();
    await look(view);
  }
  await tab.getByRole('tab', { name: 'Now' }).click();
  return names;
}

for (const [zoom, width, height] of [
  ['200 %', 640, 400],
  ['400 %', 320, 256],
] as const) {
  browserTest(`a page of 1280 px that is zoomed to ${zoom} has every control, in view and not cut`, async () => {
    const { tab } = await busy();
    const all = await controlsOf(tab);
    await tab.setViewportSize({ width, height });
    const zoomed = await controlsOf(tab);
    expect([...all].filter((name) => !zoomed.has(name))).toEqual([]);
  });
}

browserTest('nothing moves where a person wants less motion', async () => {
  const { tab } = await busy({ reducedMotion: 'reduce' });
  await tab
    .getByRole('button', { name: /^for n/ })
    .first()
    .click();
  const moving = await tab.evaluate<string[]>(`[...document.querySelectorAll('*')]
    .filter((one) => ['', '::before', '::after'].some((part) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one, part || null);
      return /[1-9]/.test(transitionDuration) || animationName !== 'none' || scrollBehavior === 'smooth';
    }))
    .map((one) => one.className)`);
  expect(moving).toEqual([]);
});
