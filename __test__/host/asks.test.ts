import { expect, test } from 'vitest';
import { ADDON } from '../support/index.ts';
import { Hosts, IDLE } from './support.ts';

/** A host that asks by the native call, and prints each answer. */
const ASKS = `
  import { createRequire } from 'node:module';
  const { Bridge, pageAnswers } = createRequire(import.meta.url)(${JSON.stringify(ADDON)});
  const bridge = new Bridge((id, event) => console.log(id, JSON.stringify(event)));
  bridge.hold(true);
  ${IDLE}
  const question = { command: 'git push --force; curl -u joe:hunter2hunter2 https://x.example', cwd: '/p', verdict: 'ask',
    rules: ['git-force-push'], reasons: ['It replaces history.'], undo: 'none', actor: { agent: 'builder' } };
  const ask = () => console.log('asked', bridge.ask(JSON.stringify(question)), pageAnswers());
  process.on('SIGUSR1', ask);
  process.on('SIGUSR2', () => bridge.abort(1));`;

test('a question is reported, and the first answer counts', async () => {
  const hosts = new Hosts();
  const host = hosts.start(ASKS);
  const watcher = await hosts.client(host);
  await watcher.watch();
  const [one, other] = [await hosts.client(host, true), await hosts.client(host, true)];
  host.process.kill('SIGUSR1');
  await host.says(/asked 1 true/);
  const ask = await watcher.message(({ state, change }) => [...(state?.asks ?? []), ...(change?.asks ?? [])][0]);
  expect(ask).toEqual({
    key: 'a1',
    command: expect.not.stringContaining('hunter2'),
    cwd: '/p',
    actor: { agent: 'builder' },
    verdict: 'ask',
    rules: ['git-force-push'],
    reasons: ['It replaces history.'],
    undo: 'none',
    askedAt: expect.any(Number),
  });
  const answer = { do: 'answer', ask: ask.key };
  expect((await watcher.request({ ...answer, approved: true })).error.code).toBe('refused');
  expect(await one.request({ ...answer, approved: false, reason: 'Use a branch.' })).toMatchObject({ ok: true });
  expect((await other.request({ ...answer, approved: true })).error.code).toBe('gone');
  const [, event] = await host.says(/^1 (.*)$/m);
  expect(JSON.parse(`${event}`)).toEqual({
    kind: 'answered',
    answer: { approved: false, reason: 'Use a branch.' },
  });
  await watcher.message(({ change }) => change?.answered.includes(ask.key));
});

test('a withdrawn question is reported, and cannot be answered', async () => {
  const hosts = new Hosts();
  const host = hosts.start(ASKS);
  const client = await hosts.client(host, true);
  await client.watch();
  host.process.kill('SIGUSR1');
  const ask = await client.message(({ state, change }) => [...(state?.asks ?? []), ...(change?.asks ?? [])][0]);
  host.process.kill('SIGUSR2');
  await client.message(({ change }) => change?.answered.includes(ask.key));
  expect((await client.request({ do: 'answer', ask: ask.key, approved: true })).error.code).toBe('gone');
  await host.says(/^1 \{"kind":"answered"\}$/m);
});

test('without a page that may answer, a question ends at once', async () => {
  const hosts = new Hosts();
  const host = hosts.start(ASKS);
  await hosts.client(host);
  host.process.kill('SIGUSR1');
  await host.says(/asked 1 false/);
  await host.says(/^1 \{"kind":"answered"\}$/m);
});

test('a command that is too long to be shown whole is not asked about', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`${ASKS}
    question.command = 'git clean -fd # ' + 'x'.repeat(9_000) + '\\nnpm publish';`);
  const client = await hosts.client(host, true);
  await client.watch();
  host.process.kill('SIGUSR1');
  await host.says(/^1 \{"kind":"answered"\}$/m);
  expect(client.messages.some(({ change }) => change?.asks.length)).toBe(false);
});

test('a question ends when the last page that may answer stays away', async () => {
  const hosts = new Hosts();
  const host = hosts.start(ASKS);
  const client = await hosts.client(host, true);
  host.process.kill('SIGUSR1');
  await host.says(/asked 1 true/);
  client.socket.destroy();
  await host.says(/^1 \{"kind":"answered"\}$/m);
});
