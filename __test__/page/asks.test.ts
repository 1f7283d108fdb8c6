import { expect, test } from 'vitest';
import { until } from '../support/index.ts';
import { fakeHost, greets, RUN } from './fake-host.ts';
import { named, opened, Pages } from './support.ts';

test('a page that is open answers what a host asks as soon as it has started', async () => {
  const { pages, tab, events } = await opened();
  const host = pages.host(`
    import { createBashTool, createToolApproval } from 'agent-bash/ai';
    const approval = createToolApproval({ tool: createBashTool({ actor: { agent: 'scout' } }), page: true });
    const status = await approval({ command: 'git clean -fd' }, { toolCallId: 'call-1' });
    console.log('STATUS ' + JSON.stringify(status));
    setInterval(() => {}, 1_000);`);
  const [ask] = await until(() => events.view.asks.size > 0 && [...events.view.asks.values()], 'a question');
  await tab.post('/api/answer', { ask: ask.id, approved: false, reason: 'Keep it.' });
  await host.says(/STATUS \{"type":"denied","reason":"Keep it\."/);
});

test('a run of the ledger that its host reports later is shown once', async () => {
  const pages = new Pages();
  const first = pages.host(`const { runId } = await bash('echo of the ledger'); console.log('RUN ' + runId);`);
  const [, runId] = await first.says(/RUN (\S+)/);
  await first.ended();
  const tab = await (await pages.serve()).signIn();
  const events = await tab.events();
  const shown = ({ view }: typeof events) => [...view.runs.values()].filter((run) => run.runId === runId);
  await until(() => shown(events).length === 1, 'the run of the ledger');
  const command = 'echo of the ledger';
  fakeHost(pages, '77778.sock', greets({ state: { runs: [{ ...RUN, runId, command }], asks: [] } }));
  await events.run((run) => named(command)(run) && run.id === '77778:c1');
  expect(shown(events).map(({ id }) => id)).toEqual(['77778:c1']);
  const later = await tab.events();
  await until(() => later.named('state').length > 0, 'the state');
  expect(shown(later).map(({ id }) => id)).toEqual(['77778:c1']);
});
