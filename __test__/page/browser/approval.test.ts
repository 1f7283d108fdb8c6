import { expect } from 'vitest';
import { Pages } from '../support.ts';
import { browserTest, openTab } from './tab.ts';

/** Returns the source of a host that asks on the page at SIGUSR1. `ask` is the host's own way of asking. */
const asking = (command: string, ask = 'undefined') => `
  import { createBashTool, createToolApproval } from 'agent-bash/ai';
  const tool = createBashTool({ actor: { agent: 'scout' }, undo: 'risky' });
  let answer;
  const ask = ${ask};
  const approval = createToolApproval({ tool, page: true, ...(ask && { ask }) });
  bash('exec sleep 1000', { timeoutMs: 600_000 }).catch(() => {});
  process.on('SIGUSR1', async () => {
    const status = await approval({ command: ${JSON.stringify(command)} }, { toolCallId: 'call-1' });
    console.log('STATUS ' + JSON.stringify(status));
  });
  process.on('SIGUSR2', () => answer?.({ approved: true }));
  console.log('READY');`;

const COMMAND = 'kubectl delete ns staging --wait=false';

async function asked(ask?: string) {
  const pages = new Pages();
  const page = await pages.serve({ control: true });
  const host = pages.host(asking(COMMAND, ask));
  await host.says(/READY/);
  const tab = await openTab(page);
  await tab.locator('[data-run]').first().waitFor();
  host.process.kill('SIGUSR1');
  const needs = tab.getByRole('region', { name: 'Needs you' });
  await needs.getByText('Approval').waitFor();
  const status = async () => JSON.parse((await host.says(/STATUS (.*)\n/))[1] ?? '');
  return { host, tab, needs, status };
}

browserTest('a command is denied in its card with a reason, which the agent reads', async () => {
  const { needs, status } = await asked();
  const card = needs.locator('[data-state=asked]');
  expect(await card.getByText(COMMAND.slice(0, 20)).count()).toBeGreaterThan(0);
  expect(await card.locator('mark').textContent()).toContain('kubectl delete ns staging');
  await card.getByLabel('Reason').fill('Not on a Friday.');
  await card.getByRole('button', { name: `Deny ${COMMAND}` }).click();
  expect(await status()).toMatchObject({ type: 'denied', reason: expect.stringContaining('Not on a Friday.') });
  await needs.waitFor({ state: 'hidden' });
});

browserTest('a command is approved beside its whole text, and Deny has the focus', async () => {
  const { tab, needs, status } = await asked();
  await needs.getByRole('button', { name: /^kubectl/ }).click();
  await tab.getByText('What is at stake').waitFor();
  expect(await tab.locator(':focus').textContent()).toContain('Deny');
  await tab.getByRole('button', { name: `Approve ${COMMAND}` }).click();
  expect(await status()).toMatchObject({ type: 'approved' });
  await tab
    .getByRole('status')
    .getByText(/^Approved: kubectl/)
    .waitFor();
});

browserTest('a question that was answered in the host closes with a line that says so', async () => {
  const { host, tab, needs, status } = await asked('() => new Promise((resolve) => { answer = resolve; })');
  await needs.getByRole('button', { name: /^kubectl/ }).click();
  await tab.getByText('What is at stake').waitFor();
  host.process.kill('SIGUSR2');
  expect(await status()).toMatchObject({ type: 'approved' });
  await tab.getByRole('status').getByText('This question was answered elsewhere, or withdrawn.').waitFor();
  await needs.waitFor({ state: 'hidden' });
});

browserTest('keys focus the answer and never give it', async () => {
  const { tab, status } = await asked();
  await tab.keyboard.press('a');
  expect(await tab.locator(':focus').textContent()).toContain('Deny');
  await tab.keyboard.press('d');
  // The first answer counts, and no key can give this one.
  await tab.getByRole('textbox', { name: 'Reason' }).fill('By hand.');
  await tab.getByRole('button', { name: `Deny ${COMMAND}` }).click();
  expect(await status()).toMatchObject({ type: 'denied', reason: expect.stringContaining('By hand.') });
});
