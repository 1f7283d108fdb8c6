import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { finished, folder, packageRoot, until } from '../support/index.ts';
import { fakeHost, greets, RUN } from './fake-host.ts';
import { type Data, named, opened, Pages } from './support.ts';

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

/** Connects to an MCP server that asks on these pages. Returns the function that calls its tool `bash`. */
async function mcp({ env }: Pages) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(packageRoot, 'dist/cli.mjs'), 'mcp', '--on-ask', 'page'],
    cwd: folder(),
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  const client = new Client({ name: 'client', version: '1' });
  await client.connect(transport);
  finished(() => client.close());
  return (command: string) => client.callTool({ name: 'bash', arguments: { command } });
}

test('an open page answers the first call of an MCP server that has just started', async () => {
  const { pages, tab, events } = await opened();
  const call = await mcp(pages);
  const calling = call('git clean -fd');
  const [ask] = await until(() => events.view.asks.size > 0 && [...events.view.asks.values()], 'a question');
  await tab.post('/api/answer', { ask: ask.id, approved: false, reason: 'Keep it.' });
  expect(JSON.stringify(await calling)).toContain('Keep it.');
});

test('what nobody could be asked about is shown as refused, and later calls do not wait for a page', async () => {
  const { pages, events } = await opened(false);
  const call = await mcp(pages);
  const asked = () => events.named('change').flatMap(({ asks }) => asks).length;
  for (const command of ['git clean -fd one', 'git clean -fd two']) {
    const { content } = await call(command);
    expect(JSON.stringify(content)).toContain('no page is open');
    const refused = ({ id, state }: Data) => state === 'refused' && events.view.runs.get(id)?.command === command;
    await until(() => [...events.view.ended.values()].some(refused), `the end of ${command}`);
    // A page without control sees a question, but cannot answer it.
    expect(asked()).toBe(1);
  }
  expect(events.live).toEqual([]);
  expect(events.view.asks.size).toBe(0);
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
