import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { IDLE } from '../../../host/support.ts';
import { fakeHost, floods } from '../../../page/fake-host.ts';
import { type Events, named, opened, type Page, type Tab } from '../../../page/support.ts';
import { finished, linuxTest, until } from '../../../support/index.ts';

/** The memory that a page uses, in MB. */
async function memory({ host }: Page): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${host.pid}/status`, 'utf8'))?.[1]) / 1_024;
}

linuxTest('output of 50 MB/s and more has reported gaps and delays nothing else', async () => {
  const { pages, page, tab, events } = await opened();
  const host = pages.host(`
      ${IDLE}
      process.on('SIGUSR1', () => bash('echo quick; exit 9'));
      await bash("sleep 0.5; timeout 4 yes 'a line of the flood, which is long'; echo the end", { spill: false });`);
  const run = await events.run(named('flood'));
  await tab.follow(events, run.id);
  await until(() => events.gap(run.id) > 0, 'a gap');
  for (let at = 0; at < 3; at += 1) {
    const began = performance.now();
    expect((await tab.get('/api/history')).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(1_000);
  }
  host.process.kill('SIGUSR1');
  await until(() => [...events.view.ended.values()].some(({ exitCode }) => exitCode === 9), 'the end of another');
  expect(await memory(page)).toBeLessThan(300);
  await until(() => events.outputs(run.id).at(-1)?.end, 'the end');
  expect(events.text(run.id)).toMatch(/\nthe end\n$/);
  const told = Buffer.byteLength(events.text(run.id));
  expect(told).toBeLessThan(8 * 1024 * 1024);
  expect(events.gap(run.id)).toBeGreaterThan(told);
});

test('updates are at most 30 in a second', async () => {
  const { pages, tab, events } = await opened();
  pages.host(`
      bash('echo of many; while echo x; do sleep 0.005; done').catch(() => {});
      for (let at = 0; at < 8; at++) (async () => { for (;;) await bash('true'); })();`);
  const run = await events.run(named('of many'));
  await tab.follow(events, run.id);
  await sleep(500);
  const from = performance.now();
  await sleep(2_000);
  for (const name of ['change', 'output']) {
    const count = events.all.filter(
      (event) => event.name === name && event.at > from && event.at < from + 2_000,
    ).length;
    expect(count).toBeLessThanOrEqual(62);
    expect(count).toBeGreaterThan(5);
  }
});

linuxTest(
  'a tab that reads nothing costs bounded memory, is disconnected, and can reconnect',
  async () => {
    const { pages, page, tab, events } = await opened();
    writeFileSync(join(pages.state, 'go'), '');
    pages.host(`
      bash('while [ -e ${join(pages.state, 'go')} ]; do echo a line of the flood, as long as others are; done', { spill: false, timeoutMs: 300_000 }).catch(() => {});
      for (let at = 0; at < 4; at++) (async () => { for (;;) await bash('true # ' + 'x'.repeat(4000)); })();`);
    const run = await events.run(named('flood'));
    await tab.follow(events, run.id);
    await until(() => events.text(run.id).length > 100_000, 'output');
    const before = await memory(page);
    events.response?.pause();
    await sleep(5_000);
    expect(await memory(page)).toBeLessThan(before + 100);
    expect((await tab.get('/api/history?text=none')).status).toBe(200);
    // The system buffers some megabytes. Then the tab is stuck, and away until its stream is dropped.
    await sleep(60_000);
    expect(await memory(page)).toBeLessThan(before + 100);
    events.response?.resume();
    await until(() => events.closed, 'it was disconnected');
    const next = await tab.events(events.all.at(-1)?.id);
    await next.run(named('flood'));
    expect(next.welcome.stream).not.toBe(events.welcome.stream);
    await tab.follow(next, run.id);
    await until(() => next.text(run.id).length > 100_000, 'output again');
  },
  180_000,
);

test('a tab that reconnects many times keeps one connection', async () => {
  const { pages, page, tab, events } = await opened();
  pages.host(IDLE);
  await events.run(named('begun'));
  const all: Events[] = [events];
  for (let at = 0; at < 20; at += 1) all.push(await tab.events(events.all.at(-1)?.id));
  await until(() => all.slice(0, -1).every(({ closed }) => closed), 'the others are closed');
  await sleep(6_000);
  expect(all.at(-1)?.closed).toBe(false);
  expect(page.host.stderr()).toBe('');
});

test('a tab that returns after its stream was dropped starts over', async () => {
  const { pages, tab, events } = await opened();
  pages.host(IDLE);
  await events.run(named('begun'));
  events.close();
  await sleep(10_500);
  const late = await tab.events(events.all.at(-1)?.id);
  await late.run(named('begun'));
  expect(late.welcome.stream).not.toBe(events.welcome.stream);
});

/** The processor time that a page has used, in ms. */
async function processor({ host }: Page): Promise<number> {
  const fields = (await readFile(`/proc/${host.pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

linuxTest('a host that floods takes no more than a share of the processor', async () => {
  const { pages, page, events } = await opened();
  fakeHost(pages, '77777.sock', floods());
  await events.run(({ host }) => host === '77777');
  const [before, began] = [await processor(page), performance.now()];
  await sleep(4_000);
  expect(((await processor(page)) - before) / (performance.now() - began)).toBeLessThan(0.5);
});

/** What a slow client sends, piece by piece. */
const SLOW: [name: string, begin: (page: Page, tab: Tab) => string, piece: string][] = [
  ['nothing', () => '', ''],
  ['headers, a byte a second', ({ port }) => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: `, 'x'],
  ['headers, a line a second', ({ port }) => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`, 'X: y\r\n'],
  ['a body, a byte a second', (page, tab) => `${headOf(page, tab)}Content-Length: 60000\r\n\r\n`, 'x'],
  ['a body, a chunk a second', (page, tab) => `${headOf(page, tab)}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'],
  ['no body', (page, tab) => `${headOf(page, tab)}Content-Length: 60000\r\n\r\n`, ''],
  [
    'no body after 100 Continue',
    (page, tab) => `${headOf(page, tab)}Content-Length: 60\r\nExpect: 100-continue\r\n\r\n`,
    '',
  ],
  [
    'the body of a refused request',
    ({ port }) => `POST / HTTP/1.1\r\nHost: evil.test:${port}\r\nContent-Length: 60000\r\n\r\n`,
    'x',
  ],
  ['nothing after a request', ({ port }) => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`, ''],
  [
    'requests without reading',
    ({ port }) => `GET /app.js HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(5_000),
    '',
  ],
];

const headOf = ({ port, origin }: Page, { token }: Tab) =>
  `POST /api/stop HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${origin}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

test('slow requests end within 70 seconds, whichever part is slow', async () => {
  const { page, tab } = await opened();
  const began = performance.now();
  const took = SLOW.map(async ([name, begin, piece]) => {
    const socket = connect(page.port, '127.0.0.1');
    const closed = closedAt(socket);
    if (name === 'requests without reading') socket.pause();
    else socket.resume();
    socket.write(begin(page, tab));
    const timer = setInterval(() => piece && socket.write(piece), 1_000);
    finished(() => {
      clearInterval(timer);
      socket.destroy();
    });
    // This client sees the end of its connection only when it reads.
    if (name === 'requests without reading') setTimeout(() => socket.resume(), 70_000);
    await closed;
    clearInterval(timer);
    return [name, Math.round((performance.now() - began) / 1_000)] as const;
  });
  for (const [name, seconds] of await Promise.all(took)) {
    expect([name, seconds < (name === 'requests without reading' ? 75 : 70)]).toEqual([name, true]);
  }
  expect((await tab.get('/api/history')).status).toBe(200);
  expect(page.host.stderr()).toBe('');
}, 120_000);

function closedAt(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve());
  });
}
