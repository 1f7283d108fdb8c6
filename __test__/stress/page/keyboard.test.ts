import type { Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { busy, RUNS } from '../../page/browser/busy.ts';
import { browserTest } from '../../page/browser/tab.ts';
import { until } from '../../support/index.ts';

const focused = (tab: BrowserPage) => tab.evaluate<string>('nameOf(document.activeElement)');

/** Checks that Tab reaches each control of the page once, in the order of the document, and that the focus is seen. */
async function walks(tab: BrowserPage, state: string): Promise<void> {
  await tab.evaluate('document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex");');
  const all = await tab.evaluate<string[]>('controls().map(nameOf)');
  const seen: string[] = [];
  const unseen: string[] = [];
  for (const _ of all) {
    await tab.keyboard.press('Tab');
    const name = await focused(tab);
    seen.push(name);
    const why = await tab.evaluate<string>('unseen(document.activeElement)');
    if (why !== '') unseen.push(`${name}: ${why}`);
  }
  expect(unseen, state).toEqual([]);
  expect(seen, state).toEqual(all);
}

browserTest('Tab reaches the search and every control in reading order, and the focus is seen', async () => {
  const { tab } = await busy();
  await walks(tab, 'Now');
  for (const [name, shown] of RUNS) {
    await tab.getByRole('button', { name }).first().click();
    await tab.locator('.detail').getByText(shown).waitFor();
    await walks(tab, `${name}`);
    const names = await tab.evaluate<string[]>('controls().map(nameOf)');
    if (name.source.startsWith('^for')) expect(names).toContain('INPUT Search');
  }
  for (const view of ['History', 'Ports']) {
    await tab.getByRole('tab', { name: view }).click();
    await tab.locator('.grid tr[data-run]').first().waitFor();
    await walks(tab, view);
  }
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.locator('.grid .open').first().click();
  await walks(tab, 'a run of the history');
});

browserTest('a question before an action keeps the focus, and gives it back', async () => {
  const { tab } = await busy();
  await tab
    .getByRole('button', { name: /^read -rp/ })
    .last()
    .click();
  await tab.getByRole('button', { name: /^Stop read/ }).focus();
  await tab.keyboard.press('Enter');
  const question = tab.getByRole('alertdialog', { name: /^Stop this command\?/ });
  await question.waitFor();
  const place = () => tab.evaluate<boolean>('document.activeElement.closest("[role=alertdialog]") !== null');
  for (const key of ['Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'j', 'k', '/', 'a', 's', '?']) {
    await tab.keyboard.press(key);
    expect([key, await place()]).toEqual([key, true]);
  }
  expect(await tab.evaluate('controls().length')).toBe(2);
  await tab.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  expect(await focused(tab)).toMatch(/^BUTTON Stop read/);
  expect(await tab.evaluate('document.querySelector("[inert]")')).toBeNull();
  await tab.keyboard.press('Enter');
  await question.waitFor();
  await tab.keyboard.press('Shift+Tab');
  expect(await focused(tab)).toMatch(/^BUTTON Stop read/);
  await tab.keyboard.press('Enter');
  await tab
    .getByRole('status')
    .getByText(/^Stopped: read/)
    .waitFor();
  // The button has gone with its run.
  await until(async () => (await focused(tab)) === 'DIV Output', 'the output has the focus');
});

browserTest('the list of keys keeps the focus, and gives it back', async () => {
  const { tab } = await busy();
  await tab.getByRole('button', { name: 'Keys' }).focus();
  await tab.keyboard.press('Enter');
  const keys = tab.getByRole('dialog', { name: 'Keys' });
  await keys.waitFor();
  for (const key of ['Tab', 'Tab', 'Tab', 's', 'j']) {
    await tab.keyboard.press(key);
    expect(await tab.evaluate('document.activeElement.closest("dialog, body").tagName')).toMatch(/^(DIALOG|BODY)$/);
    expect(await focused(tab)).toMatch(/^(BUTTON Close|BODY)/);
  }
  await tab.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' });
  expect(await focused(tab)).toBe('BUTTON Keys');
});

browserTest('a command is denied by the keyboard alone, and the focus goes on to the next one', async () => {
  const { host, tab } = await busy();
  await tab.getByRole('textbox', { name: 'Reason' }).focus();
  await tab.keyboard.type('Not today.');
  await tab.keyboard.press('Tab');
  expect(await focused(tab)).toMatch(/^BUTTON Deny/);
  await tab.keyboard.press('Enter');
  await host.says(/STATUS .*Not today\./);
  await tab.getByText('Approval', { exact: true }).waitFor({ state: 'hidden' });
  expect(await focused(tab)).toMatch(/^BUTTON read -rp/);
});

browserTest('what begins to need a person is said to screen readers', async () => {
  const { tab } = await busy();
  const said = tab.getByRole('status').filter({ hasText: 'Needs you' });
  expect(await said.textContent()).toMatch(/^Needs you: (.*\. )?Approval, kubectl delete ns staging/);
  // The state of a run is a word, not a mark alone.
  const row = tab.locator('.run', { hasText: 'for n in' });
  expect(await row.ariaSnapshot()).toMatch(/running/);
});
