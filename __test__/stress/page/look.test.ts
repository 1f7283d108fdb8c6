import type { Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { busy as asking } from '../../page/browser/busy.ts';
import { browserTest, isSound, openTab } from '../../page/browser/tab.ts';
import { type Page, Pages } from '../../page/support.ts';
import { folder } from '../../support/index.ts';

/** Serves a page with each kind of run, an ended run with changes and denials, and a prompt. */
async function busy(): Promise<Page> {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const project = JSON.stringify(folder());
  const host = pages.host(`
    import { BackgroundRegistry, PtySession } from 'agent-bash';
    const ignore = () => {};
    const options = { cwd: ${project}, timeoutMs: 600_000, ledger: true, actor: { agent: 'builder' } };
    bash('printf "\\\\e[31mred\\\\e[0m \\\\e[38;5;226mpale\\\\e[0m plain\\\\n"; exec sleep 1000', options).catch(ignore);
    await new PtySession(options).start('read -rp "Name: " name # a question');
    const registry = new BackgroundRegistry();
    setInterval(ignore, 1e6);
    await registry.start('python3 -u -m http.server 0 --bind 127.0.0.1', options);
    const terminal = new PtySession({ cols: 40, rows: 8, ...options });
    await terminal.start('printf "\\\\e[7mmenu\\\\e[0m \\\\e[2mdim\\\\e[0m\\\\n"; exec sleep 1000');
    process.on('SIGUSR1', () => bash('echo x > new; echo y > /etc/agent-bash-denied; exit 2', {
      ...options, receipt: 'exact', undo: 'always', confine: 'workspace' }).catch(ignore));
    console.log('READY');`);
  await host.says(/READY/);
  const tab = await openTab(page);
  await tab
    .getByRole('button', { name: /read -rp/ })
    .first()
    .waitFor();
  host.process.kill('SIGUSR1');
  await tab
    .getByText(/exit code 2/)
    .first()
    .waitFor();
  await tab.close();
  return page;
}

/** Opens each state of the page in turn. */
async function* states(tab: BrowserPage): AsyncGenerator<string> {
  yield 'now';
  for (const name of [/^printf "\\e\[31m/, /^printf "\\e\[7m/, /^echo x/, /^python3/]) {
    await tab.getByRole('button', { name }).first().click();
    await tab.getByRole('log', { name: 'Output' }).waitFor();
    yield `${name}`;
    if (name.source.startsWith('^python3')) {
      await tab.getByRole('button', { name: /^Stop python3/ }).click();
      await tab.getByRole('alertdialog').waitFor();
      yield 'confirm';
      await tab.keyboard.press('Escape');
    }
    await tab.getByRole('log', { name: 'Output' }).focus();
    await tab.keyboard.press('Escape');
  }
  await tab.keyboard.press('?');
  await tab.getByRole('dialog', { name: 'Keys' }).waitFor();
  yield 'keys';
  await tab.keyboard.press('Escape');
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.locator('.grid tr[data-run]').first().waitFor();
  yield 'history';
  await tab.getByRole('tab', { name: 'Ports' }).click();
  await tab.locator('.grid tr[data-run]').first().waitFor();
  yield 'ports';
}

browserTest('axe finds no violation, low contrast included, in the light and the dark scheme', async () => {
  const page = await busy();
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await openTab(page, { colorScheme, bypassCSP: true });
    for await (const state of states(tab)) await isSound(tab, `${colorScheme}: ${state}`);
    await tab.close();
  }
});

browserTest('axe finds no violation in an approval, and in one project of two agents', async () => {
  const { tab } = await asking({ bypassCSP: true });
  await isSound(tab, 'cards');
  await tab.getByRole('button', { name: /^kubectl/ }).click();
  await tab.getByText('What is at stake').waitFor();
  await isSound(tab, 'approval');
  await tab.getByRole('button', { name: /^Deny kubectl/ }).click();
  await tab
    .getByRole('status')
    .getByText(/^Denied/)
    .waitFor();
  await isSound(tab, 'a message');
});

browserTest('axe finds no violation where nothing runs, nobody may act, or nobody is signed in', async () => {
  const page = await new Pages().serve();
  const tab = await openTab(page, { bypassCSP: true });
  await tab.getByText('Nothing runs').waitFor();
  await isSound(tab, 'Now');
  for (const view of ['History', 'Ports']) {
    await tab.getByRole('tab', { name: view }).click();
    await isSound(tab, view);
  }
  const other = await tab.context().newPage();
  await other.goto(page.origin);
  await other.getByRole('heading', { name: 'This tab is not signed in' }).waitFor();
  await isSound(other, 'signed out');
});

browserTest('nothing but output scrolls sideways, at any width', async () => {
  const page = await busy();
  for (const width of [360, 700, 960, 1_000, 1_440, 2_560]) {
    const tab = await openTab(page, { viewport: { width, height: 760 } });
    for await (const shown of narrowStates(tab)) {
      const state = `${shown} at ${width} px`;
      const scrolls = await tab.evaluate<string[]>(`[...document.querySelectorAll('body *:not(.log, .log *)')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
        .map((one) => one.className)`);
      expect(scrolls, state).toEqual([]);
      expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth'), state).toBe(true);
    }
    await tab.close();
  }
});

/** Opens the states of the page at any width: a narrow page has one pane and a button that leads back. */
async function* narrowStates(tab: BrowserPage): AsyncGenerator<string> {
  yield 'now';
  for (const name of [/^printf "\\e\[31m/, /^printf "\\e\[7m/, /^echo x/]) {
    await tab.getByRole('button', { name }).first().click();
    await tab.getByRole('log', { name: 'Output' }).waitFor();
    yield `${name}`;
    const back = tab.getByRole('button', { name: 'Back' });
    if (await back.isVisible()) await back.click();
  }
  for (const view of ['History', 'Ports']) {
    await tab.getByRole('tab', { name: view }).click();
    await tab.locator('.grid tr[data-run]').first().waitFor();
    yield view;
  }
}

browserTest('the keyboard reaches commands, search and views', async () => {
  const tab = await openTab(await busy());
  await tab.getByRole('button', { name: /^printf "\\e\[31m/ }).waitFor();
  const focused = () => tab.evaluate<string>('document.activeElement.textContent');
  const seen = new Set<string>();
  for (let step = 0; step < 8; step++) {
    await tab.keyboard.press('j');
    seen.add(await focused());
  }
  expect([...seen].some((text) => text.startsWith('printf'))).toBe(true);
  await tab.getByRole('button', { name: /^printf "\\e\[31m/ }).focus();
  await tab.keyboard.press('j');
  await tab.keyboard.press('k');
  await tab.keyboard.press('Enter');
  expect(await tab.locator('[aria-current=true]').textContent()).toMatch(/^printf "\\e\[31m/);
  await tab.keyboard.press('/');
  expect(await tab.locator(':focus').getAttribute('aria-label')).toBe('Search');
  await tab.keyboard.press('Escape');
  await tab.getByRole('tab', { name: 'Now' }).focus();
  await tab.keyboard.press('ArrowRight');
  await tab.getByRole('region', { name: 'History' }).waitFor();
  expect(await tab.locator(':focus').getAttribute('aria-label')).toBe('History');
});
