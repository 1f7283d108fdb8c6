import type { BrowserContextOptions } from 'playwright-core';
import { Pages } from '../support.ts';
import { openTab } from './tab.ts';

/** A host with a command, a terminal that asks, a server, and an approval at SIGUSR1. */
const HOST = `
  import { BackgroundRegistry, PtySession } from 'agent-bash';
  import { createBashTool, createToolApproval } from 'agent-bash/ai';
  const ignore = () => {};
  const options = { timeoutMs: 600_000, ledger: true, actor: { agent: 'builder' } };
  bash('for n in 1 2 3; do echo line $n; done; exec sleep 1000', options).catch(ignore);
  await new PtySession(options).start('read -rp "Name: " name');
  await new BackgroundRegistry().start('python3 -u -m http.server 0 --bind 127.0.0.1', options);
  const approval = createToolApproval({ tool: createBashTool({ actor: { agent: 'scout' } }), page: true });
  process.on('SIGUSR1', async () => {
    const status = await approval({ command: 'kubectl delete ns staging' }, { toolCallId: 'call-1' });
    console.log('STATUS ' + JSON.stringify(status));
  });
  setInterval(ignore, 1e6);
  console.log('READY');`;

/** The beginnings of the names of what is opened, and texts that are shown once it is open as a whole. */
export const RUNS: [name: RegExp, shown: string | RegExp][] = [
  [/^for n/, 'line 3'],
  [/^read -rp/, 'terminal, as the program draws it'],
  [/^python3/, /^Serving HTTP/],
  [/^kubectl/, 'What is at stake'],
];

/** Serves a page with a command, a terminal that asks, a server and an approval. */
export async function busy(options?: BrowserContextOptions) {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const host = pages.host(HOST);
  await host.says(/READY/);
  const tab = await openTab(page, options);
  await tab.locator('[data-run]', { hasText: 'http.server' }).getByRole('link').waitFor();
  host.process.kill('SIGUSR1');
  await tab.locator('[data-state=asked]').waitFor();
  await tab.evaluate(BROWSER);
  return { host, tab };
}

/** Functions for the browser: the name of an element, the controls of the page, and why a focus cannot be seen. */
const BROWSER = `
  window.nameOf = (one) => one.tagName + ' ' + (one.ariaLabel || one.textContent || one.type).trim().slice(0, 60);
  window.controls = () => [...document.querySelectorAll('a[href], button, input, select, [tabindex="0"]')]
    .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[inert]'));
  // Returns why a person cannot see that an element has the focus; '' if one can.
  window.unseen = (one) => {
    const own = getComputedStyle(one);
    const after = getComputedStyle(one, '::after');
    const isAfter = own.outlineStyle === 'none' && after.outlineStyle !== 'none';
    const style = isAfter ? after : own;
    if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) return 'no outline';
    const box = (isAfter ? one.closest('[data-run]') : one).getBoundingClientRect();
    const wide = Math.max(0, parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth));
    const [left, top, right, bottom] = [box.left - wide, box.top - wide, box.right + wide, box.bottom + wide];
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return 'outside of the window';
    for (let outer = (isAfter ? one.closest('[data-run]') : one).parentElement; outer; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflow === 'visible') continue;
      const edge = outer.getBoundingClientRect();
      if (left < edge.left - 0.5 || top < edge.top - 0.5 || right > edge.right + 0.5 || bottom > edge.bottom + 0.5)
        return 'cut by ' + outer.className;
    }
    for (let one_ = one; one_; one_ = one_.parentElement) if (getComputedStyle(one_).opacity === '0') return 'transparent';
    return '';
  };`;
