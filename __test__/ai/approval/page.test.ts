import { bash, type LedgerEntry } from 'agent-bash';
import { createToolApproval } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { listenHere, Page } from '../../host/page.ts';
import { Ledger } from '../../ledger/support.ts';
import { until } from '../../support/index.ts';
import { ASKS, conversation, DENIED, HOSTS, person } from './support.ts';

listenHere();
// This process listens from now on, though it has run no command.
createToolApproval({ page: true });

/** The only entry of a ledger. */
async function only(ledger: Ledger): Promise<LedgerEntry> {
  const entries = await ledger.read();
  expect(entries).toHaveLength(1);
  return entries[0] as LedgerEntry;
}

describe.each(HOSTS)('%s', (...host) => {
  describe.each([
    ['generateText', false],
    ['streamText', true],
  ])('%s', (_, streaming) => {
    test('a command that is approved on the page runs, and the ledger says so', async () => {
      const ledger = new Ledger();
      const page = await Page.open();
      const talk = conversation(host, { approval: { page: true }, streaming });
      const [ask] = await Promise.all([page.answer(true), talk.go()]);
      expect(ask).toMatchObject({ command: ASKS, verdict: 'ask', rules: ['git-clean'], actor: { agent: 'a' } });
      expect(talk.asked()).toEqual([]);
      expect(talk.read()).toContain('not a git repository');
      expect(talk.read()).not.toContain('a person would be asked');
      expect(await only(ledger)).toMatchObject({
        command: ASKS,
        state: 'exited',
        verdict: 'ask',
        decidedBy: 'page',
        actor: { agent: 'a', toolCallId: ask.actor.toolCallId },
      });
    });

    test('a command that is refused on the page does not run, and the model reads the words of the person', async () => {
      const ledger = new Ledger();
      const page = await Page.open();
      const talk = conversation(host, { approval: { page: true }, streaming });
      const [ask] = await Promise.all([page.answer(false, 'Keep the «build» folder.'), talk.go()]);
      expect(talk.asked()).toEqual([]);
      expect(talk.read()).toContain('Keep the «build» folder.');
      expect(await only(ledger)).toMatchObject({
        command: ASKS,
        state: 'refused',
        verdict: 'ask',
        rules: ['git-clean'],
        decidedBy: 'page',
        actor: { agent: 'a', toolCallId: ask.actor.toolCallId },
      });
    });

    test('the first answer counts: the host approves, and the question of the page is withdrawn', async () => {
      const ledger = new Ledger();
      const page = await Page.open();
      const { ask, answer, questions } = person();
      const talk = conversation(host, { approval: { page: true, ask }, streaming });
      const going = talk.go();
      const asked = await page.asked();
      expect(questions).toMatchObject([{ command: ASKS }]);
      answer({ approved: true });
      await Promise.all([going, page.gone(asked)]);
      expect((await page.request({ do: 'answer', ask: asked.key, approved: false })).error.code).toBe('gone');
      expect(await only(ledger)).toMatchObject({ state: 'exited', decidedBy: 'host' });
    });

    test('the first answer counts: the page approves, and the question of the host is withdrawn', async () => {
      const ledger = new Ledger();
      const page = await Page.open();
      const { ask, answer, signals } = person();
      const talk = conversation(host, { approval: { page: true, ask }, streaming });
      await Promise.all([page.answer(true), talk.go()]);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      answer({ approved: false, reason: 'too late' });
      expect(await only(ledger)).toMatchObject({ state: 'exited', decidedBy: 'page' });
    });

    test('a command that the host refuses does not run, and the model reads why', async () => {
      const ledger = new Ledger();
      const { ask, answer, questions } = person();
      const talk = conversation(host, { approval: { page: true, ask }, streaming });
      const going = talk.go();
      await until(() => questions.length > 0, 'the host is asked');
      answer({ approved: false, reason: 'Not before the release.' });
      await going;
      expect(talk.read()).toContain('Not before the release.');
      expect(await only(ledger)).toMatchObject({ state: 'refused', decidedBy: 'host' });
    });

    test('an abort of the call withdraws both questions, and nothing runs', async () => {
      const ledger = new Ledger();
      const page = await Page.open();
      const { ask, signals } = person();
      const ending = new AbortController();
      const abortSignal = ending.signal;
      const talk = conversation(host, { approval: { page: true, ask }, streaming, abortSignal });
      const going = talk.go().catch(() => {});
      const asked = await page.asked();
      ending.abort();
      await page.gone(asked);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      await going;
      expect(await ledger.read()).toEqual([]);
    });
  });

  test('without a page and a function the SDK asks, and a page that opens then is not asked', async () => {
    const ledger = new Ledger();
    const talk = conversation(host, { approval: { page: true } });
    await talk.go();
    expect(talk.asked()).toHaveLength(1);
    const page = await Page.open();
    await talk.answer(true);
    expect(page.asks()).toEqual([]);
    expect(await only(ledger)).toMatchObject({ command: ASKS, state: 'exited', decidedBy: 'host' });
  });

  test('a page that leaves without an answer leaves the question to the SDK', async () => {
    const page = await Page.open();
    const talk = conversation(host, { approval: { page: true } });
    const going = talk.go();
    await page.asked();
    await page.leave();
    await going;
    expect(talk.asked()).toHaveLength(1);
  });

  test('a page that comes while the host asks may answer, too', async () => {
    const ledger = new Ledger();
    const { ask, questions } = person();
    const talk = conversation(host, { approval: { page: true, ask } });
    const going = talk.go();
    await until(() => questions.length > 0, 'the host is asked');
    await Promise.all([(await Page.open()).answer(true), going]);
    expect(await only(ledger)).toMatchObject({ state: 'exited', decidedBy: 'page' });
  });

  test('a page that leaves leaves the question to the host', async () => {
    const page = await Page.open();
    const { ask, answer, signals } = person();
    const talk = conversation(host, { approval: { page: true, ask } });
    const going = talk.go();
    await page.asked();
    await page.leave();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    answer({ approved: false, reason: 'I am still here.' });
    await going;
    expect(talk.read()).toContain('I am still here.');
  });

  test('commands that are allowed or denied do not wait, and a refusal is in the ledger', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const { ask, questions } = person();
    const talk = conversation(host, { commands: ['true', DENIED], approval: { page: true, ask } });
    await talk.go();
    expect(talk.read()).toContain('git push --force is not allowed');
    expect([...page.asks(), ...questions]).toEqual([]);
    expect(await ledger.read()).toMatchObject([
      { command: DENIED, state: 'refused', verdict: 'deny', rules: ['git-force-push'], decidedBy: null },
      { command: 'true', state: 'exited', decidedBy: null },
    ]);
  });

  test('an approval holds for one run of its call', async () => {
    const page = await Page.open();
    const talk = conversation(host, { commands: [ASKS, ASKS], approval: { page: true } });
    const going = talk.go();
    const one = await page.answer(true);
    const other = await page.answer(false, 'Once is enough.');
    await going;
    expect(other.actor.toolCallId).not.toBe(one.actor.toolCallId);
    expect(talk.read()).toContain('Once is enough.');
  });

  test.each([
    ['a throw', () => Promise.reject(new Error('no display')), 'the host could not ask a person (no display)'],
    ['nothing', () => undefined, 'the answer of the host is not { approved: boolean; reason?: string }'],
    ['true', () => true, 'the answer of the host is not'],
    ['a word', () => ({ approved: 'yes' }), 'the answer of the host is not'],
    ['a reason that is no text', () => ({ approved: true, reason: 5 }), 'the answer of the host is not'],
  ])('%s in place of an answer of the host refuses the command, and the model reads it', async (_, ask, reason) => {
    const ledger = new Ledger();
    await Page.open();
    const talk = conversation(host, { approval: { page: true, ask: ask as never } });
    await talk.go();
    expect(talk.read()).toContain(reason);
    expect(await only(ledger)).toMatchObject({ state: 'refused', decidedBy: null });
  });

  test('a host that fails after the page has answered changes nothing', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const ask = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const talk = conversation(host, { approval: { page: true, ask } });
    await Promise.all([page.answer(true), talk.go()]);
    expect(await only(ledger)).toMatchObject({ state: 'exited', decidedBy: 'page' });
  });

  test('the function works without a page, beside rules that ask', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const ask = { rules: ['true:*'], person: () => ({ approved: true, reason: 'fine' }) };
    const talk = conversation(host, { commands: ['true'], approval: { ask } });
    await talk.go();
    expect(page.asks()).toEqual([]);
    expect(await only(ledger)).toMatchObject({ command: 'true', state: 'exited', decidedBy: 'host' });
  });

  test('a refusal of a tool without a ledger has no entry', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const talk = conversation(host, { tool: { ledger: false }, approval: { page: true } });
    await Promise.all([page.answer(false), talk.go()]);
    expect(talk.read()).toContain('the person who was asked said no');
    expect(ledger.files()).toEqual([]);
  });
});

test('bash alone still knows nothing of the page', async () => {
  const page = await Page.open();
  await bash('true');
  expect(page.asks()).toEqual([]);
});
