import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContextOptions,
  type Page as BrowserPage,
  chromium,
  type Locator,
} from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { finished, hasProgram, isRoot, testNeeding } from '../../support/index.ts';
import type { Page } from '../support.ts';

const program = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'].find(hasProgram);
/** Returns the path of the browser. Playwright does not search `PATH`. */
const path = () => execFileSync('bash', ['-c', 'type -P "$0"', `${program}`], { encoding: 'utf8' }).trim();

/** A test with a real browser. */
export const browserTest = testNeeding('Chromium', program !== undefined);

/** Bound of each wait, ms. */
const WAIT_MS = 20_000;

let browser: Promise<Browser> | null = null;

afterAll(async () => {
  await (await browser)?.close();
  browser = null;
});

/** Opens a new tab and signs it in. An error of the page's scripts fails the test unless it is `expected`. */
export async function openTab(
  page: Page,
  options: BrowserContextOptions = {},
  expected: RegExp[] = [],
): Promise<BrowserPage> {
  browser ??= chromium.launch({ executablePath: path(), args: isRoot ? ['--no-sandbox'] : [] });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const tab = await context.newPage();
  tab.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  tab.on('pageerror', ({ stack = '' }) => faults.push(stack));
  tab.on('console', (message) => {
    const fault = message.text();
    if (message.type() === 'error' && !expected.some((one) => one.test(fault))) faults.push(fault);
  });
  finished(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(`the page has failed: ${faults.join('\n')}`);
  });
  await tab.goto(`${page.origin}/#${await page.another()}`);
  await tab.getByText(/^Live$/).waitFor();
  return tab;
}

/** Returns the value of an expression about an element, which is `one`. */
export function about<T>(element: Locator, expression: string): Promise<T> {
  return element.evaluate(new Function('one', `return ${expression}`) as (one: unknown) => T);
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Checks that axe finds no violation in the page as it is. */
export async function isSound(tab: BrowserPage, state: string): Promise<void> {
  if (!(await tab.evaluate('window.axe !== undefined'))) await tab.addScriptTag({ path: AXE });
  const found = await tab.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ': ' + html.slice(0, 200) + ' ' + (any[0]?.message ?? ''))))`);
  expect(found, state).toEqual([]);
}
