import { execFileSync } from 'node:child_process';
import { type Browser, type BrowserContextOptions, type Page as BrowserPage, chromium } from 'playwright-core';
import { afterAll } from 'vitest';
import { finished, hasProgram, isRoot, testNeeding } from '../../support/index.ts';
import type { Page } from '../support.ts';

const program = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'].find(hasProgram);
/** The program's path: playwright takes no name. */
const path = () => execFileSync('bash', ['-c', 'type -P "$0"', `${program}`], { encoding: 'utf8' }).trim();

/** A test with a real browser. */
export const browserTest = testNeeding('Chromium', program !== undefined);

let browser: Promise<Browser> | null = null;

afterAll(async () => {
  await (await browser)?.close();
  browser = null;
});

/** Opens a tab of its own that is signed in. A fault of the page's script fails the test. */
export async function openTab(page: Page, options: BrowserContextOptions = {}): Promise<BrowserPage> {
  browser ??= chromium.launch({ executablePath: path(), args: isRoot ? ['--no-sandbox'] : [] });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const tab = await context.newPage();
  const faults: string[] = [];
  tab.on('pageerror', ({ stack = '' }) => faults.push(stack));
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  finished(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(`the page has failed: ${faults.join('\n')}`);
  });
  await tab.goto(`${page.origin}/#${await page.another()}`);
  await tab.getByText(/^Live$/).waitFor();
  return tab;
}
