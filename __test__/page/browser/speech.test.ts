import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { folder } from '../../support/index.ts';
import { Pages } from '../support.ts';
import { browserTest, openTab } from './tab.ts';

/** Collects in `said` what the polite live regions of the output get. */
const LISTEN = `window.said = [];
  new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      const element = node instanceof Element ? node : node.parentElement;
      if (element?.closest('[role=log]') && element.closest('[aria-live]').ariaLive === 'polite') said.push(node.textContent);
    }
  }).observe(document.body, { subtree: true, childList: true });`;

browserTest('the live region of the output has its last lines, and counts the others', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  const more = join(folder(), 'more');
  const command = `for n in {1..300}; do echo "line $n"; done
    until [ -e ${more} ]; do sleep 0.05; done
    echo later; printf 'not finished'; exec sleep 1000`;
  pages.host(`bash(${JSON.stringify(command)}, { timeoutMs: 600_000 }).catch(() => {});`);
  const tab = await openTab(page);
  const said = () => tab.evaluate<string[]>('said');
  await tab.evaluate(LISTEN);
  await tab.locator('.list .line', { hasText: 'line 300' }).waitFor();
  await tab.locator('.list button.open').click();
  const log = tab.getByRole('log', { name: 'Output' });
  await log.getByText('line 300', { exact: true }).waitFor();
  const lines = (await said()).filter((text) => text.startsWith('line'));
  expect(lines.at(-1)).toBe('line 300');
  expect(lines.join('').length).toBeLessThanOrEqual(600);
  const left = tab.getByText(`${300 - lines.length} more lines`, { exact: true });
  await left.waitFor({ state: 'attached' });
  expect(await left.getAttribute('role')).toBe('status');
  writeFileSync(more, '');
  await log.getByText('not finished', { exact: true }).waitFor();
  expect(await said()).toContain('later');
  expect(await said()).not.toContain('not finished');
  // The numbers of the lines are not read out.
  expect(await log.ariaSnapshot()).toMatch(/line 299 line 300 later not finished/);
});

browserTest('the screen of a terminal is no live region, and its note is one', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  pages.host(`
    import { PtySession } from 'agent-bash';
    await new PtySession({ cols: 30, rows: 5 }).start('echo drawn; exec sleep 1000');`);
  const tab = await openTab(page);
  await tab.evaluate(LISTEN);
  await tab.locator('.list button.open').click();
  const log = tab.getByRole('log', { name: 'Output' });
  await log.getByText('drawn', { exact: true }).waitFor();
  const said = (await tab.evaluate<string[]>('said')).join('\n');
  expect(said).toContain('What you type goes to the program.');
  expect(said).not.toContain('drawn');
});
