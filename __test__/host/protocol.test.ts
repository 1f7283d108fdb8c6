import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { packageRoot, until } from '../support/index.ts';
import { Client, Hosts, IDLE } from './support.ts';

const { version } = JSON.parse(readFileSync(`${packageRoot}/package.json`, 'utf8'));

test('a host greets with who it is', async () => {
  const before = Date.now();
  const hosts = new Hosts();
  const host = hosts.start(IDLE);
  const client = await hosts.client(host);
  const { hello } = client.messages[0];
  expect(hello).toEqual({
    protocol: 1,
    pid: host.pid,
    program: expect.stringMatching(/^node/),
    cwd: packageRoot.replace(/\/$/, ''),
    startedAt: expect.any(Number),
    version,
  });
  expect(hello.startedAt).toBeGreaterThan(before - 1000);
  expect(hello.startedAt).toBeLessThan(Date.now() + 100);
});

describe.concurrent('the first line', () => {
  test.for([
    ['another version', '{"hello":9}', 'this host speaks version 1 of the protocol, and not version 9'],
    ['no JSON', 'GET / HTTP/1.1', 'the first line is no hello'],
    ['a request', '{"id":1,"do":"watch"}', 'the first line is no hello'],
    ['an array', '[1]', 'the first line is no hello'],
    ['nothing', '', 'the first line is no hello'],
    ['a wrong type', '{"hello":1,"control":"yes"}', 'the first line is no hello'],
  ])('that is %s closes with the reason', async ([, line, message]) => {
    const hosts = new Hosts();
    const host = hosts.start(IDLE);
    await hosts.listens(host);
    const client = new Client(hosts.socket(host));
    client.socket.write(`${line}\n{"id":1,"do":"watch"}\n`);
    expect(await client.reason()).toEqual({ code: 'protocol', message: expect.stringContaining(`${message}`) });
    expect(client.messages).toHaveLength(1);
  });

  test('that does not come within five seconds closes', async () => {
    const hosts = new Hosts();
    const host = hosts.start(IDLE);
    await hosts.listens(host);
    const began = performance.now();
    const client = new Client(hosts.socket(host));
    client.socket.write('{"hello":');
    expect(await client.reason()).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThan(4_900);
  });
});

test('a line may have 64 KiB', async () => {
  const hosts = new Hosts();
  const client = await hosts.client(hosts.start(IDLE));
  const run = 'x'.repeat(65_000);
  expect((await client.request({ do: 'follow', run })).error.code).toBe('gone');
  client.socket.write('x'.repeat(65_537));
  expect(await client.reason()).toMatchObject({ code: 'invalid', message: expect.stringContaining('65536 bytes') });
});

test('an invalid request is answered by its number, and closes the connection without one', async () => {
  const hosts = new Hosts();
  const client = await hosts.client(hosts.start(IDLE));
  for (const request of [{ do: 'dance' }, { do: 'follow' }, { do: 'stop', run: 7 }, {}]) {
    expect((await client.request(request)).error).toMatchObject({ code: 'invalid' });
  }
  client.socket.write('{"do":"watch"}\n');
  expect(await client.reason()).toMatchObject({ code: 'invalid' });
});

test('a client that is read-only may not stop, type or answer', async () => {
  const hosts = new Hosts();
  const client = await hosts.client(hosts.start(IDLE));
  await client.watch();
  const { key, pid } = await client.run((run) => run.pid);
  for (const request of [
    { do: 'stop', run: key },
    { do: 'input', run: key, text: 'y\n' },
    { do: 'answer', ask: 'a1', approved: true },
  ]) {
    expect((await client.request(request)).error).toMatchObject({ code: 'refused' });
  }
  expect(client.runs()).toHaveLength(1);
  process.kill(pid, 0);
});

test('a host has 16 clients', async () => {
  const hosts = new Hosts();
  const host = hosts.start(IDLE);
  const clients = [];
  for (let at = 0; at < 16; at++) clients.push(await hosts.client(host));
  const one = new Client(hosts.socket(host));
  one.send({ hello: 1 });
  expect(await one.reason()).toMatchObject({ code: 'busy', message: expect.stringContaining('16 clients') });
  clients[7]?.socket.destroy();
  await until(async () => {
    const next = new Client(hosts.socket(host));
    next.send({ hello: 1 });
    await until(() => next.messages.length > 0, 'a word');
    return next.messages[0].hello;
  }, 'a place is free');
  for (const [at, client] of clients.entries()) {
    if (at !== 7) expect(await client.request({ do: 'watch' })).toMatchObject({ ok: true });
  }
});

test('a run that is not there is gone, whatever its key is', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { BackgroundRegistry } from 'agent-bash';
    globalThis.registry = new BackgroundRegistry();
    ${IDLE}`);
  const client = await hosts.client(host, true);
  for (const run of ['c99', 'c-1', 'c', '', 't0123456789ab', '../../../etc/passwd', 'c1\u0000', 'x'.repeat(60_000)]) {
    for (const request of [{ do: 'follow' }, { do: 'stop' }, { do: 'input', text: 'x' }]) {
      expect((await client.request({ ...request, run })).error).toMatchObject({ code: 'gone' });
    }
    expect(await client.request({ do: 'unfollow', run })).toMatchObject({ ok: true });
  }
  expect((await client.request({ do: 'answer', ask: 'a1', approved: true })).error).toMatchObject({ code: 'gone' });
});
