import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { readLedger } from 'agent-bash';
import { createToolApproval } from 'agent-bash/ai';
import { registerBashTools } from 'agent-bash/mcp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenHere, Page } from '../host/page.ts';
import { all, Ledger } from '../ledger/support.ts';
import { folder, hostEnv, linuxTest, packageRoot, stateFolder, until } from '../support/index.ts';
import { MAJORS, textOf } from './majors.ts';

listenHere();
createToolApproval({ page: true });

const ASKS = { command: 'git clean -fd' };

describe.each(MAJORS)('with page and the SDK $major', ({ connect }) => {
  const served = () => connect({ cwd: folder(), page: true, actor: { agent: 'a' } });

  test('a command that is approved on the page runs, and the ledger says so', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const { call } = await served();
    const [ask, answer] = await Promise.all([page.answer(true), call('bash', ASKS)]);
    expect(ask).toMatchObject({
      ...ASKS,
      verdict: 'ask',
      actor: { agent: 'a', toolCallId: expect.stringMatching('mcp-') },
    });
    expect(answer.isError).toBe(false);
    expect(textOf(answer)).toContain('not a git repository');
    expect(textOf(answer)).not.toContain('a person would be asked');
    expect(await ledger.read()).toMatchObject([{ ...ASKS, state: 'exited', decidedBy: 'page' }]);
  });

  test('a command that is refused there does not run, and the model reads the words of the person', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const { call } = await served();
    const [, answer] = await Promise.all([page.answer(false, 'Keep it.'), call('bash', ASKS)]);
    expect(answer).toMatchObject({ isError: true, structuredContent: { error: 'Keep it.', code: 'ERR_BASH_BLOCKED' } });
    expect(textOf(answer)).toBe('Keep it.');
    expect(await ledger.read()).toMatchObject([{ ...ASKS, state: 'refused', decidedBy: 'page' }]);
  });

  test('without a page that is open it is refused, with the command that opens one', async () => {
    const ledger = new Ledger();
    const { call } = await served();
    const answer = await call('bash', ASKS);
    expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'ERR_BASH_BLOCKED' } });
    expect(textOf(answer)).toMatch(/^git clean deletes files .*\n.*`agent-bash ui --control`/);
    expect(await ledger.read()).toMatchObject([{ ...ASKS, state: 'refused', decidedBy: null }]);
  });

  test('a page that leaves without an answer refuses it, too', async () => {
    const page = await Page.open();
    const { call } = await served();
    const calling = call('bash', ASKS);
    await page.asked();
    await page.leave();
    expect(textOf(await calling)).toContain('agent-bash ui --control');
  });

  test('a cancelled call withdraws its question, and nothing runs', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const { call } = await served();
    const ending = new AbortController();
    const calling = call('bash', ASKS, { signal: ending.signal }).catch(() => {});
    const asked = await page.asked();
    ending.abort();
    await Promise.all([page.gone(asked), calling]);
    // A command that ran in spite of it would have its entry before this one.
    expect(await call('bash', { command: 'true' })).toMatchObject({ isError: false });
    expect(await ledger.read()).toMatchObject([{ command: 'true' }]);
  });

  test('a connection that closes withdraws its question', async () => {
    const page = await Page.open();
    const { call, close } = await served();
    const calling = call('bash', ASKS).catch(() => {});
    const asked = await page.asked();
    await close();
    await Promise.all([page.gone(asked), calling]);
  });

  test('commands that are allowed or denied do not wait', async () => {
    const page = await Page.open();
    const { call } = await served();
    expect(await call('bash', { command: 'true' })).toMatchObject({ isError: false });
    expect(textOf(await call('bash', { command: 'git push --force' }))).toContain('is not allowed');
    expect(textOf(await call('bash_analyze', ASKS))).toContain('verdict: ask');
    expect(await call('bash', { check_pid: 1 })).toMatchObject({ isError: true });
    expect(page.asks()).toEqual([]);
  });

  linuxTest('nobody is asked about an effect that the confinement prevents anyway', async () => {
    const page = await Page.open();
    const { call } = await connect({ cwd: folder(), page: true, confine: 'workspace' });
    expect(await call('bash', { command: 'kill -9 1' })).toMatchObject({ isError: false });
    expect(page.asks()).toEqual([]);
  });

  test('without the option it is refused though a page is open, or runs with a note where the host lets it', async () => {
    const page = await Page.open();
    const { call } = await connect({ cwd: folder() });
    const refused = await call('bash', ASKS);
    expect(refused).toMatchObject({ isError: true });
    expect(textOf(refused)).toContain('A person has to consent to this');
    const free = await connect({ cwd: folder(), safety: { onAsk: 'allow' } });
    expect(textOf(await free.call('bash', ASKS))).toContain('a person would be asked about this');
    expect(page.asks()).toEqual([]);
  });
});

test.each([[{ page: 'yes' }], [{ page: 1 }], [{ pages: true }]])('%j is an error at once', (options) => {
  const server = { registerTool: () => {}, server: {} };
  expect(() => registerBashTools(server as never, options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
  );
});

test('agent-bash mcp --on-ask page asks there from its first call on', async () => {
  const [runtime, state] = [folder(), stateFolder()];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(packageRoot, 'dist/cli.mjs'), 'mcp', '--on-ask', 'page', '--cwd', folder()],
    env: { PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state },
  });
  const client = new Client({ name: 'client', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const page = await Page.open(transport.pid as number, runtime);
  const call = async () => (await client.callTool({ name: 'bash', arguments: ASKS })) as CallToolResult;
  const [, approved] = await Promise.all([page.answer(true), call()]);
  expect(textOf(approved)).toContain('not a git repository');
  const [, refused] = await Promise.all([page.answer(false, 'Keep it.'), call()]);
  expect(textOf(refused)).toBe('Keep it.');
  hostEnv({ XDG_STATE_HOME: state });
  // The server writes a refusal beside its answer.
  const decided = () => all(readLedger()).then((entries) => entries.map(({ state, decidedBy }) => [state, decidedBy]));
  await until(async () => (await decided()).length === 2, 'both entries');
  expect(await decided()).toEqual([
    ['refused', 'page'],
    ['exited', 'page'],
  ]);
});
