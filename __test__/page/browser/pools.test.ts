import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { addressOf, folder } from '../../support/index.ts';
import { Pages } from '../support.ts';
import { browserTest, isSound, openTab } from './tab.ts';

browserTest('the places of a pool are shown while there is one, and its runs with their machines', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  const go = join(folder(), 'go');
  const host = pages.host(`
    import { existsSync } from 'node:fs';
    import { TargetPool } from 'agent-bash';
    const targets = [
      { ...${JSON.stringify(addressOf(folder()))}, name: 'build-1' },
      { command: ['false'], name: 'build-2' },
    ];
    const pool = new TargetPool({ targets, perTarget: 3 });
    const options = { ledger: true, actor: { agent: 'builder' } };
    await bash('echo done there', { ...options, target: pool });
    await bash('echo done here', options);
    process.on('SIGUSR1', () => pool.close());
    const run = () => bash('echo on its way; exec sleep 1000', { ...options, target: pool }).catch(() => {});
    run();
    process.on('SIGUSR2', () => {
      for (let more = 0; more < 5; more++) run();
      pool.drain('build-1');
    });
    const moment = new Int32Array(new SharedArrayBuffer(4));
    process.on('SIGHUP', () => {
      console.log('BUSY');
      while (!existsSync(${JSON.stringify(go)})) Atomics.wait(moment, 0, 0, 50);
    });
    setInterval(() => {}, 1e6);`);
  const tab = await openTab(page, { bypassCSP: true, viewport: { width: 360, height: 760 } });
  await tab.getByRole('region', { name: /on build-1/ }).waitFor();
  await tab.getByRole('tab', { name: 'Pools' }).click();
  const busy = tab.getByRole('row', { name: /^build-1 connected 1 of 3 0/ });
  await busy.waitFor();
  await tab.getByRole('row', { name: /^build-2 not connected yet 0 of 3/ }).waitFor();
  await tab.getByRole('rowheader', { name: /pid \d+ · 2 places$/ }).waitFor();
  await isSound(tab, 'pools');
  expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);

  await tab.setViewportSize({ width: 1_280, height: 800 });
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.getByRole('row', { name: /echo done here/ }).waitFor();
  await tab.getByRole('combobox', { name: 'Target' }).selectOption('build-1');
  await tab.getByRole('row', { name: /echo done here/ }).waitFor({ state: 'detached' });
  await tab.getByRole('button', { name: /^echo done there/ }).click();
  await tab.locator('.detail').getByText('build-1', { exact: true }).waitFor();
  await isSound(tab, 'history');

  await tab.getByRole('tab', { name: 'Pools' }).click();
  host.process.kill('SIGUSR2');
  await tab.getByRole('row', { name: /^build-1 draining: takes no new runs 3 of 3/ }).waitFor();
  await tab.getByRole('row', { name: /^build-2 avoided until \d/ }).waitFor();
  const head = tab.getByRole('rowheader', { name: /2 places · 3 calls wait for any of them/ });
  await head.waitFor();
  expect(await head.textContent()).not.toContain('reported');
  await isSound(tab, 'pools in need');
  // A process that is busy reports nothing.
  host.process.kill('SIGHUP');
  await host.says(/BUSY/);
  await tab.evaluate('{ const now = Date.now; Date.now = () => now() + 10_000; }');
  await tab.getByRole('rowheader', { name: /reported 1\d s ago$/ }).waitFor();
  writeFileSync(go, '');

  host.process.kill('SIGUSR1');
  await tab.getByRole('tab', { name: 'Now', selected: true }).waitFor();
  await tab.getByRole('tab', { name: 'Pools' }).waitFor({ state: 'hidden' });
});
