import { expect } from 'vitest';
import { Pages } from '../support.ts';
import { browserTest, openTab } from './tab.ts';

/** Texts that would act in a page that interprets them. */
const HOSTILE = [
  '\u001b[2J\u001b[H\u001b[?1049h\u001b]0;owned\u0007',
  '<img src=x onerror="window.owned = 1">',
  '<script>window.owned = 2</script>',
  '"><svg onload="window.owned = 3">',
  '</script></title></style><iframe src="javascript:window.owned=4"></iframe>',
  '\u001b]8;;javascript:window.owned=5\u0007click\u001b]8;;\u0007',
  '{{constructor.constructor("window.owned=6")()}} ${window.owned=7}',
  '\u202e\u2066right to left\u2069 \u200b\ufeff',
];

browserTest('output, commands, titles and reasons are text and never markup', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  pages.host(`
    import { PtySession } from 'agent-bash';
    const texts = ${JSON.stringify(HOSTILE)};
    const options = { timeoutMs: 600_000, ledger: true, actor: { agent: texts[1], session: texts[2], user: texts[3] } };
    const said = texts.map((text) => "printf '%s\\\\n' " + "'" + text.replaceAll("'", "'\\\\''") + "'").join('; ');
    bash(said + '; exec sleep 1000 # ' + texts.slice(1, 5).join(' '), options).catch(() => {});
    const terminal = new PtySession({ cols: 100, rows: 30, ...options });
    await terminal.start(said + '; exec sleep 1000');
    bash(said + '; sleep 1000', options).catch(() => {});`);
  const tab = await openTab(page);
  await tab.locator('[data-run]').nth(1).waitFor();
  for (const open of await tab.locator('.list button.open').all()) {
    await open.click();
    const log = tab.getByRole('log', { name: 'Output' });
    await log.getByText('<script>window.owned = 2</script>').first().waitFor();
    expect(await log.locator('img, script, svg, iframe, a').count()).toBe(0);
  }
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.locator('.grid tr[data-run]').nth(1).waitFor();
  expect(await tab.evaluate('window.owned')).toBeUndefined();
  expect(await tab.locator('img, script:not([src]), iframe, object, embed').count()).toBe(0);
  expect(await tab.title()).not.toContain('owned');
  // A character that reverses or hides text is written as an escape.
  expect(await tab.locator('.grid').textContent()).not.toMatch(/[\u202e\u2066\u200b]/);
  expect(await tab.locator('.grid').textContent()).toContain('\\u202e');
});

browserTest('the policy blocks injected scripts and requests to other sites', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const tab = await openTab(page, {}, [/Content Security Policy|TrustedHTML|TrustedScript/]);
  const tried = await tab
    .evaluate<string[]>(`(async () => {
    const done = [];
    const image = new Image();
    await new Promise((resolve) => { image.onerror = resolve; image.onload = () => (done.push('image'), resolve()); image.src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'; });
    await fetch('data:,x').then(() => done.push('fetch'), () => {});
    try { document.body.insertAdjacentHTML('beforeend', '<p>x</p>'); done.push('markup'); } catch {}
    try { new Function('return 1')(); done.push('eval'); } catch {}
    const inline = document.createElement('script');
    try { inline.textContent = 'window.inline = 1'; document.body.append(inline); } catch {}
    if (window.inline) done.push('inline');
    return done;
  })()`)
    .catch((error: Error) => [error.message]);
  expect(tried).toEqual([]);
});
