import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { about, browserTest, openTab } from '../../../page/browser/tab.ts';
import { Pages } from '../../../page/support.ts';
import { until } from '../../../support/index.ts';

browserTest(
  'output that is too fast to be read is shown whole when a person scrolls, and when it is over',
  async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const stop = join(pages.state, 'stop');
    const flood = `until [ -e ${stop} ]; do for ((j = 0; j < 500; j++)); do echo "line $((++i))"; done; sleep 0.05; done`;
    pages.host(`bash('${flood}; echo over; exec sleep 1000', { timeoutMs: 600_000 }).catch(() => {});`);
    const tab = await openTab(page);
    await tab.locator('button.open').first().click();
    const log = tab.getByRole('log', { name: 'Output' });
    const texts = () => about<string[]>(log, '[...one.querySelectorAll(".l")].map((line) => line.textContent)');
    const shown = async () => (await texts()).length;
    await log.getByText(/earlier lines not shown/).waitFor();
    await until(async () => (await shown()) < 200, 'only the last lines');
    await log.hover();
    await tab.mouse.wheel(0, -400);
    await until(async () => (await shown()) > 1_000, 'the lines above are there');
    const top = 'one.getBoundingClientRect().top';
    const inView = `[...one.querySelectorAll(".l")].find((line) => line.getBoundingClientRect().top >= ${top}).textContent`;
    const seen = await about<string>(log, inView);
    await tab.getByRole('button', { name: /newer lines$/ }).waitFor();
    expect(await about<string>(log, inView)).toBe(seen);
    await tab.getByRole('button', { name: 'Follow', exact: true }).click();
    await until(async () => (await shown()) < 200, 'it follows again');
    writeFileSync(stop, '');
    await log.getByText('over').waitFor();
    await until(async () => (await shown()) > 1_000, 'all lines that are kept are there');
    const all = (await texts()).slice(-1_001, -1).map((text) => Number(text.replace('line ', '')));
    expect(all).toEqual(all.map((_, at) => (all[0] as number) + at));
    const fromEnd = 'one.scrollHeight - one.scrollTop - one.clientHeight';
    expect(await about<number>(log, fromEnd)).toBeLessThan(32);
  },
);
