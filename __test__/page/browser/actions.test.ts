import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { folder, until } from '../../support/index.ts';
import { Pages } from '../support.ts';
import { about, browserTest, openTab } from './tab.ts';

const NAMES = 'import { BackgroundRegistry, PtySession } from "agent-bash"; const ignore = () => {};';

browserTest('a run is an element with its id and state, opened by a button that holds its command', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const host = pages.host(`${NAMES}
    const run = bash('echo "RUN $AGENT_BASH_RUN_ID"; echo one; exec sleep 1000', { timeoutMs: 600_000, actor: { agent: 'builder' } });
    run.catch(ignore);`);
  const tab = await openTab(page);
  const run = tab.locator('[data-run]', { hasText: 'exec sleep 1000' });
  await run.waitFor();
  expect(await run.getAttribute('data-state')).toBe('running');
  expect(await run.getAttribute('data-run')).toMatch(new RegExp(`^${host.pid}-`));
  await run
    .getByRole('button', { name: /echo one; exec sleep 1000/ })
    .first()
    .click();
  const log = tab.getByRole('log', { name: 'Output' });
  await log.getByText('one', { exact: true }).waitFor();
  await tab.getByRole('button', { name: /^Stop echo/ }).click();
  await tab.locator('[data-run][data-state=aborted], [data-run][data-state=signaled]').waitFor();
  await tab
    .getByRole('status')
    .getByText(/^Stopped: echo/)
    .waitFor();
});

browserTest('a task is stopped after a confirmation', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const task = pages.host(`${NAMES}
    const registry = new BackgroundRegistry();
    const { pid } = await registry.start('echo up; exec sleep 1000');
    console.log('PID ' + pid);
    setInterval(ignore, 1e6);`);
  const [, pid] = await task.says(/PID (\d+)/);
  const tab = await openTab(page);
  const run = tab.locator('[data-run][data-state=backgrounded]');
  await run
    .getByRole('button', { name: /sleep 1000/ })
    .first()
    .click();
  await tab.getByRole('button', { name: /^Stop echo up/ }).click();
  const question = tab.getByRole('alertdialog');
  await question.getByText('Stop this task?').waitFor();
  expect(await tab.locator(':focus').textContent()).toBe('Keep it running');
  await tab.keyboard.press('Escape');
  expect(await question.count()).toBe(0);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  await tab.getByRole('button', { name: /^Stop echo up/ }).click();
  await question.getByRole('button', { name: /^Stop/ }).click();
  await until(() => !existsSync(`/proc/${pid}`), 'the task has ended');
});

browserTest('a question of a program is answered in its card', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const target = join(folder(), 'answer');
  pages.host(`${NAMES}
    await new PtySession().start('read -rp "Name: " name; echo "$name" > ' + ${JSON.stringify(target)});`);
  const tab = await openTab(page);
  const needs = tab.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Name:', { exact: true }).waitFor();
  await needs.getByLabel('Answer').fill('ann');
  await needs.getByRole('button', { name: /^Send read -rp/ }).click();
  await until(() => existsSync(target) && readFileSync(target, 'utf8') === 'ann\n', 'the answer arrives');
  await needs.waitFor({ state: 'hidden' });
});

browserTest('a terminal is shown as on its screen, and takes keys', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  pages.host(`${NAMES}
    const terminal = new PtySession({ cols: 30, rows: 5 });
    await terminal.start('printf "\\\\e[31mred\\\\e[0m\\\\n"; read -rsn3 key; printf "key %q\\\\n" "$key"; read -r line; echo "line $line"; exec sleep 1000');`);
  const tab = await openTab(page);
  await tab.locator('[data-run] button.open').first().click();
  const log = tab.getByRole('log', { name: 'Output' });
  const red = log.getByText('red', { exact: true });
  await red.waitFor();
  expect(await about(red, 'getComputedStyle(one).color')).toBe('rgb(255, 139, 130)');
  await tab.getByRole('group', { name: 'Keys' }).getByRole('button', { name: '↑' }).click();
  await log.getByText(/key \$'\\E\[A'/).waitFor();
  await tab.getByLabel('Answer').fill('hello');
  await tab.keyboard.press('Enter');
  await log.getByText('line hello').waitFor();
});

browserTest('a run is undone after a confirmation that shows the forecast', async () => {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const project = folder();
  const [file, other] = [join(project, 'file'), join(project, 'new')];
  writeFileSync(file, 'before');
  const options = JSON.stringify({ cwd: project, undo: 'always', receipt: 'exact', ledger: true });
  const host = pages.host(`${NAMES}
    bash('exec sleep 1000', { timeoutMs: 600_000 }).catch(ignore);
    process.on('SIGUSR1', () => bash('echo after > file; echo x > new; exit 3', ${options}).catch(ignore));
    console.log('READY');`);
  await host.says(/READY/);
  const tab = await openTab(page);
  await tab.locator('[data-run]', { hasText: 'sleep 1000' }).waitFor();
  host.process.kill('SIGUSR1');
  const run = tab.locator('[data-run][data-state=exited]', { hasText: 'echo after' });
  await run.getByRole('button', { name: /echo after/ }).click();
  const changed = tab.getByRole('region', { name: 'Changed' });
  await changed.getByText('new', { exact: true }).waitFor();
  await tab.getByRole('button', { name: /^Undo echo after/ }).click();
  const question = tab.getByRole('alertdialog');
  await question.getByText(/1 path comes back, 1 new path is removed/).waitFor();
  expect(readFileSync(file, 'utf8')).toBe('after\n');
  await question.getByRole('button', { name: /^Undo/ }).click();
  await tab
    .getByRole('status')
    .getByText(/^Undone:/)
    .waitFor();
  expect(readFileSync(file, 'utf8')).toBe('before');
  expect(existsSync(other)).toBe(false);
});

browserTest('without control there is no action, and the page says so', async () => {
  const pages = new Pages();
  const page = await pages.serve();
  pages.host(`${NAMES} await new PtySession().start('read -rp "Name: " name');`);
  const tab = await openTab(page);
  await tab.getByText('read-only', { exact: true }).waitFor();
  await tab.locator('[data-run] button.open').first().click();
  await tab.getByRole('log', { name: 'Output' }).waitFor();
  for (const name of [/^Stop/, /^Approve/, /^Deny/, /^Send/, /^Undo/])
    expect(await tab.getByRole('button', { name }).count()).toBe(0);
  expect(await tab.getByLabel('Answer').count()).toBe(0);
});
