import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { finished, until } from '../support/index.ts';
import { PATHS } from './paths.ts';
import { opened, type Page, served } from './support.ts';

describe.concurrent('a malformed or unknown request', () => {
  test('a method that no path takes is refused', async () => {
    const { page, tab } = await served();
    for (const method of ['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      for (const path of ['/', '/api/stop', '/api/events', '/none']) {
        const { status } = await page.send(path, { method, headers: tab.authorization });
        expect({ method, path, status }).toEqual({ method, path, status: 405 });
      }
    }
  });

  test('a method that the path does not take is refused', async () => {
    const { tab, page } = await served();
    for (const { method, path } of PATHS) {
      const other = method === 'GET' ? tab.post(path, {}) : page.send(path, { headers: tab.authorization });
      expect(await other).toMatchObject({ status: 405, code: 'method' });
    }
  });

  test('a path is matched exactly', async () => {
    const { tab } = await served();
    const unknown = [
      '//',
      '///api/stop',
      '//evil.test/api/history',
      '/%00',
      '/../../etc/passwd',
      '/..%2f..%2fetc/passwd',
      '/api/../app.js',
      '/api/history/',
      '/API/history',
      '/__proto__',
      '/constructor',
      '/hasOwnProperty',
      `/${'a'.repeat(8_000)}`,
    ];
    for (const path of unknown) expect([path, (await tab.get(path)).status]).toEqual([path, 404]);
    expect((await tab.get('/?x')).status).toBe(200);
  });

  test('the server survives malformed bytes', async () => {
    const { page, tab } = await served();
    const host = `Host: 127.0.0.1:${page.port}\r\n`;
    await Promise.all([
      page.raw('\0'.repeat(10_000)),
      page.raw(`GET /\x80\xff HTTP/1.1\r\n${host}Connection: close\r\n\r\n`),
      page.raw(`GET / HTTP/1.1\r\n${host}Connection: close\r\nA\r\n b: c\r\n\r\n`),
      page.raw(`GET / HTTP/1.1\r\n${host}${'A: b\r\n'.repeat(5_000)}\r\n`),
      page.raw(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`),
    ]);
    expect((await tab.get('/api/history')).status).toBe(200);
    expect(page.host.stderr()).toBe('');
  });
});

describe.concurrent('requests that are never finished', () => {
  test('keep no new tab out, and disturb none that is open', async () => {
    const { page, tab, events } = await opened();
    const head = `Host: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nContent-Type: application/json\r\n`;
    const halves = ['', 'GET / HTTP/1.1\r\n', `POST /api/sign-in HTTP/1.1\r\n${head}Content-Length: 50\r\n\r\n{`];
    const sockets = Array.from({ length: 300 }, (_, n) => {
      const socket = connect(page.port, '127.0.0.1').on('error', () => {});
      finished(() => void socket.destroy());
      socket.write(halves[n % halves.length] as string);
      return socket;
    });
    await Promise.all(sockets.map((socket) => socket.readyState === 'open' || once(socket, 'connect')));
    const other = await (await page.signIn(await page.another())).events();
    await until(() => other.named('state').length > 0, 'the state in the new tab');
    expect(events.closed).toBe(false);
    expect((await tab.get('/api/history')).status).toBe(200);
  });
});

describe.concurrent('a smuggled request', () => {
  const smuggled = (page: Page, token: string) =>
    `POST /api/stop HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

  const MALFORMED = [
    ['Content-Length and Transfer-Encoding', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n', 'abcd'],
    ['a length with a sign', 'Content-Length: +4\r\n', 'abcd'],
    ['chunked before another coding', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'],
    ['an unknown coding', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a chunk with a bad size', 'Transfer-Encoding: chunked\r\n', '-1\r\n\r\n'],
  ] as const;

  test('is refused with a body of unclear length', async () => {
    const { page, tab } = await served();
    for (const [what, lines, body] of MALFORMED) {
      const head = `POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nContent-Type: application/json\r\n${lines}\r\n`;
      const said = await page.raw(head + body + smuggled(page, tab.token));
      expect(said, what).toMatch(/^HTTP\/1\.1 400 /);
      expect(said.match(/HTTP\/1\.1 \d/g), what).toHaveLength(1);
    }
  });

  test('in a body that is refused unread is not answered', async () => {
    const { page, tab } = await served();
    const inner = smuggled(page, tab.token);
    const said = await page.raw(
      `POST /api/sign-in HTTP/1.1\r\nHost: evil.test\r\nContent-Length: ${inner.length}\r\n\r\n${inner}GET /none HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nConnection: close\r\n\r\n`,
    );
    expect([...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['421', '404']);
  });
});

describe.concurrent('a body', () => {
  test('has at most 64 KiB, with and without Content-Length', async () => {
    const { page, tab } = await served();
    const body = (length: number) => JSON.stringify({ run: 'x', pad: 'p'.repeat(length - 20) }).padEnd(length);
    const most = body(64 * 1024);
    expect(Buffer.byteLength(most)).toBe(65_536);
    expect(await page.send('/api/stop', { method: 'POST', headers: tab.authorization, body: most })).toMatchObject({
      status: 409,
    });
    const longer = `${most} `;
    expect(await page.send('/api/stop', { method: 'POST', headers: tab.authorization, body: longer })).toMatchObject({
      status: 413,
      code: 'too-long',
    });
    const chunked = { ...tab.authorization, 'Transfer-Encoding': 'chunked' };
    expect(await page.send('/api/stop', { method: 'POST', headers: chunked, body: longer })).toMatchObject({
      status: 413,
      code: 'too-long',
    });
  });

  test('without an end is not buffered: the connection is closed', async () => {
    const { page, tab } = await served();
    const socket = connect(page.port, '127.0.0.1');
    finished(() => {
      socket.destroy();
    });
    let closed = false;
    let said = '';
    socket
      .on('error', () => {})
      .on('close', () => {
        closed = true;
      });
    socket.on('data', (text) => {
      said += text;
    });
    socket.write(
      `POST /api/stop HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nAuthorization: Bearer ${tab.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    await until(() => {
      if (!closed && socket.writableLength < 1e6) socket.write(piece);
      return closed;
    }, 'the server closes');
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('that is not what the path takes, or not UTF-8, is refused with 400', async () => {
    const { page, tab } = await served();
    const bodies = [
      '',
      '{',
      '[]',
      '"x"',
      'null',
      '7',
      '{"run":7}',
      '{"run":null}',
      '{"Run":"x"}',
      '{"__proto__":{"run":"x"}}',
      JSON.stringify({ run: 'x'.repeat(1_001) }),
      '{"run":"x"}{',
      Buffer.from('{"run":"\xff\xfe"}', 'latin1'),
    ];
    for (const body of bodies) {
      const reply = await page.send('/api/stop', { method: 'POST', headers: tab.authorization, body });
      expect(reply, `${body}`).toMatchObject({ status: 400, code: 'invalid' });
    }
  });

  test('gets 100 Continue only after all checks', async () => {
    const { page, tab } = await served();
    const head = (host: string, token: string) =>
      `POST /api/stop HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${page.origin}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 11\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
    const host = `127.0.0.1:${page.port}`;
    expect(await page.raw(head('evil.test', tab.token))).toMatch(/^HTTP\/1\.1 421 /);
    expect(await page.raw(head(host, 'x'))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await page.raw(head(host, tab.token).replace('Length: 11', 'Length: 999999'))).toMatch(/^HTTP\/1\.1 413 /);
    expect(await page.raw(head(host, tab.token), '{"run":"x"}')).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 409 /,
    );
  });
});

test('a page without control refuses every action with 403', async () => {
  const { tab, page } = await served(false);
  for (const path of ['stop', 'input', 'answer', 'undo']) {
    expect(await tab.post(`/api/${path}`, { run: 'x', ask: 'x', text: 'x', approved: true })).toMatchObject({
      status: 403,
      code: 'control',
    });
    expect(await page.post(`/api/${path}`, {})).toMatchObject({ status: 401 });
  }
});

test('a flood of requests leaves the page usable', async () => {
  const { page, tab, events } = await opened();
  // More connections than a page takes at once: some of them are refused.
  const flood = await Promise.all(Array.from({ length: 400 }, () => page.send('/api/events').catch(() => null)));
  expect(new Set(flood.flatMap((reply) => reply?.status ?? []))).toEqual(new Set([401]));
  expect(events.closed).toBe(false);
  expect((await tab.get('/api/history')).status).toBe(200);
});
