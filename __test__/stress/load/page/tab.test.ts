import { setTimeout as wait } from 'node:timers/promises';
import type { Page as BrowserPage } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest, openTab } from '../../../page/browser/tab.ts';
import { Pages } from '../../../page/support.ts';

const MINUTES = Number(process.env.AGENT_BASH_TAB_MINUTES ?? 10);

/** 200 runs that write, of which one ends and another begins five times a second, and one that writes all the time. */
const CROWD = `
  const run = (number) => {
    const command = 'for ((i = 0; i < 40; i++)); do echo "\\\\e[32mrun ' + number + '\\\\e[0m line $i"; sleep 1; done';
    bash(command, { timeoutMs: 600_000, actor: { agent: 'agent-' + (number % 5) } }).catch(() => {});
  };
  bash("node -e 'const piece = (\\"x\\".repeat(99) + \\"\\\\\\\\n\\").repeat(2000); setInterval(() => process.stdout.write(piece), 20)'",
    { timeoutMs: 3_600_000, truncate: { keep: 'tail', maxBytes: 1_000 } }).catch(() => {});
  let number = 0;
  for (; number < 200; number++) setTimeout(run, number * 200, number);
  setTimeout(() => setInterval(() => run(number++), 200), 40_000);`;

/** Returns the bytes of the heap after a collection, and the number of nodes in the document. */
async function used(tab: BrowserPage): Promise<{ heap: number; nodes: number }> {
  const session = await tab.context().newCDPSession(tab);
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.enable').then(() => session.send('Performance.getMetrics'));
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  await session.detach();
  return { heap: value('JSHeapUsedSize'), nodes: value('Nodes') };
}

browserTest(
  'a tab that is left open under 200 runs has bounded memory',
  async () => {
    const pages = new Pages();
    const page = await pages.serve({ control: true });
    pages.host(CROWD);
    const tab = await openTab(page);
    await tab
      .getByRole('button', { name: /^node -e/ })
      .first()
      .click();
    const samples: Awaited<ReturnType<typeof used>>[] = [];
    for (let minute = 0; minute < MINUTES; minute++) {
      await wait(60_000);
      samples.push(await used(tab));
    }
    console.log(JSON.stringify(samples));
    // In the first minutes the heap grows: the tab keeps 5 minutes of ended runs, and the last lines of output.
    const last = samples.at(-1) as (typeof samples)[0];
    expect(last.heap).toBeLessThan(100e6);
    expect(last.nodes).toBeLessThan(40_000);
    await tab.locator('.link', { hasText: 'Live' }).waitFor();
  },
  (MINUTES + 2) * 60_000,
);
