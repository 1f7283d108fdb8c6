import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { finished, isRoot, linuxTest, testNeeding, until } from '../support/index.ts';
import { type Page, Pages, type Sent } from './support.ts';

const KEEP = { 'Sec-Fetch-Site': '' };

/** A page with control, and a tab that is signed in. */
async function served(control = true) {
  const pages = new Pages();
  const page = await pages.serve({ control });
  return { pages, page, tab: await page.signIn() };
}

/** Every path of the server, with a method that it takes. */
const PATHS: [method: string, path: string][] = [
  ['GET', '/'],
  ['GET', '/app.js'],
  ['GET', '/app.css'],
  ['GET', '/api/events'],
  ['GET', '/api/history'],
  ['GET', '/api/run?run=x'],
  ['GET', '/api/forecast?run=x'],
  ['POST', '/api/sign-in'],
  ['POST', '/api/follow'],
  ['POST', '/api/stop'],
  ['POST', '/api/input'],
  ['POST', '/api/answer'],
  ['POST', '/api/undo'],
];

describe.concurrent('another page on this machine', () => {
  test('of another origin on the loopback is refused, with and without Sec-Fetch headers', async () => {
    const { page, tab } = await served();
    const other = createServer((_, response) => response.end('an agent at work'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    finished(() => {
      other.close();
    });
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const [method, path] of PATHS) {
      if (path === '/') continue;
      const body = method === 'POST' ? '{}' : undefined;
      for (const headers of [
        { Origin: origin, 'Sec-Fetch-Site': 'same-site' },
        { Origin: origin, ...KEEP },
        { 'Sec-Fetch-Site': 'same-site' },
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'none' },
      ] as NonNullable<Sent['headers']>[]) {
        const reply = await page.send(path, { method, headers: { ...tab.authorization, ...headers }, body });
        expect([path, headers, reply.status]).toEqual([path, headers, 403]);
        expect(reply.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });

  test.each([
    'null',
    'http://localhost:PORT',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1',
    'http://127.0.0.1:PORT/',
    '',
  ])('an action with the origin %j is refused', async (given) => {
    const { page, tab } = await served();
    const headers = { ...tab.authorization, Origin: given.replace('PORT', `${page.port}`) };
    expect(await page.post('/api/stop', { run: 'x' }, headers)).toMatchObject({ status: 403, code: 'origin' });
  });

  test('a form of another page is refused: its content type, its origin, its site', async () => {
    const { page } = await served();
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain']) {
      const body = '{"code":"x"}';
      const form = { 'Content-Type': type, Origin: 'http://127.0.0.1:1', 'Sec-Fetch-Site': 'same-site' };
      const sent = (headers: Sent['headers']) => page.send('/api/sign-in', { method: 'POST', headers, body });
      expect(await sent(form)).toMatchObject({ status: 403 });
      expect(await sent({ ...form, ...KEEP })).toMatchObject({ status: 403, code: 'origin' });
      expect(await sent({ 'Content-Type': type })).toMatchObject({ status: 415, code: 'content-type' });
    }
  });

  test('a fetch without cors gets nothing, and no preflight is granted', async () => {
    const { page, tab } = await served();
    for (const dest of ['empty', 'script', 'image', 'style', 'iframe', 'object']) {
      const headers = { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': dest };
      for (const path of ['/app.js', '/app.css', '/api/events']) {
        expect(await page.send(path, { headers: { ...headers, ...tab.authorization } })).toMatchObject({ status: 403 });
      }
      expect((await page.send('/', { headers })).status).toBe(403);
    }
    const preflight = await page.send('/api/stop', {
      method: 'OPTIONS',
      headers: { Origin: 'http://127.0.0.1:1', 'Access-Control-Request-Method': 'POST', ...KEEP },
    });
    expect(preflight.status).toBe(405);
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('a link from anywhere leads to the document, which has no data', async () => {
    const { page } = await served();
    for (const site of ['none', 'cross-site', 'same-site', 'same-origin']) {
      const headers = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
      expect((await page.send('/', { headers })).status).toBe(200);
    }
  });
});

describe.concurrent('a name that resolves to this machine', () => {
  test.each([
    'evil.test:PORT',
    'localhost:PORT',
    '[::1]:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.1:PORT',
    '0.0.0.0:PORT',
  ])('Host: %s is refused for every path', async (host) => {
    const { page, tab } = await served();
    const headers = { ...tab.authorization, Host: host.replace('PORT', `${page.port}`) };
    for (const [method, path] of PATHS) {
      const body = method === 'POST' ? '{}' : undefined;
      expect(await page.send(path, { method, headers, body })).toMatchObject({ status: 421, code: 'host' });
    }
  });

  test.each([
    ['two Host headers', 'Host: 127.0.0.1:PORT\r\nHost: evil.test\r\n'],
    ['two equal Host headers', 'Host: 127.0.0.1:PORT\r\nhost: 127.0.0.1:PORT\r\n'],
    ['no Host', ''],
    ['an empty Host', 'Host:\r\n'],
    ['a Host with a user', 'Host: x@127.0.0.1:PORT\r\n'],
    ['a Host with a path', 'Host: 127.0.0.1:PORT/x\r\n'],
  ])('%s is refused', async (_, lines) => {
    const { page } = await served();
    for (const version of ['1.1', '1.0']) {
      const said = await page.raw(
        `GET / HTTP/${version}\r\n${lines.replaceAll('PORT', `${page.port}`)}Connection: close\r\n\r\n`,
      );
      expect(said).toMatch(/^HTTP\/1\.1 4(21|00) /);
      expect(said).toContain('X-Content-Type-Options: nosniff');
    }
  });

  test('the absolute form of a target is refused', async () => {
    const { page } = await served();
    const host = `Host: 127.0.0.1:${page.port}\r\nConnection: close\r\n\r\n`;
    for (const target of [`http://127.0.0.1:${page.port}/`, 'http://evil.test/', '*', 'x']) {
      expect(await page.raw(`GET ${target} HTTP/1.1\r\n${host}`)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
});

describe.concurrent('the server is bound', () => {
  test('to 127.0.0.1 alone', async () => {
    const { page } = await served();
    const others = [
      '127.0.0.2',
      '::1',
      ...Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .map((one) => one.address),
    ];
    for (const address of others.filter((one) => one !== '127.0.0.1' && !one.startsWith('fe80'))) {
      const code = await new Promise((resolve) => {
        const socket = connect(page.port, address, () => resolve('connected'));
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)).unref();
      });
      expect([address, code]).not.toEqual([address, 'connected']);
    }
  });

  test('with an address that cannot be chosen', async () => {
    const pages = new Pages();
    const host = pages.host(`
      import { startPage } from 'agent-bash/page';
      await startPage({ host: '0.0.0.0' }).catch((error) => console.log(error.code));`);
    await host.says(/ERR_BASH_INVALID_ARG/);
  });
});

describe.concurrent('cookies', () => {
  test('are never set, and never read', async () => {
    const { page, tab } = await served();
    const cookies = [`token=${tab.token}`, `agent-bash-token=${tab.token}`, `Authorization=Bearer ${tab.token}`];
    for (const [method, path] of PATHS) {
      const body = method === 'POST' ? '{}' : undefined;
      const reply = await page.send(path, { method, headers: { Cookie: cookies.join('; ') }, body });
      expect(reply.headers['set-cookie']).toBeUndefined();
      if (path.startsWith('/api/') && path !== '/api/sign-in') expect([path, reply.status]).toEqual([path, 401]);
    }
  });
});

describe.concurrent('the code of the link', () => {
  test('has 22 characters or more, and works once', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const [code = ''] = page.codes;
    expect(code).toMatch(/^[\w-]{22,}$/);
    const first = await page.post('/api/sign-in', { code });
    expect(first).toMatchObject({ status: 200, json: { token: expect.stringMatching(/^[\w-]{22,}$/) } });
    expect(first.json.token).not.toBe(code);
    expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    const other = await page.another();
    expect(other).not.toBe(code);
    expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    await page.signIn(other);
  });

  test('is used by one of two that come at once', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const [code] = page.codes;
    const replies = await Promise.all(Array.from({ length: 8 }, () => page.post('/api/sign-in', { code })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403, 403, 403]);
  });

  test('is not used up by wrong ones', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const [code = ''] = page.codes;
    for (const wrong of ['', ' ', code.slice(1), `${code}x`, code.toLowerCase(), '0', '__proto__', '\0']) {
      expect(await page.post('/api/sign-in', { code: wrong })).toMatchObject({ status: 403, code: 'code' });
    }
    for (const wrong of [null, 7, [], {}, [code], { code }, true]) {
      expect(await page.post('/api/sign-in', { code: wrong })).toMatchObject({ status: 400, code: 'invalid' });
    }
    for (const [method, path] of PATHS) {
      if (!path.startsWith('/api/') || path === '/api/sign-in') continue;
      const body = method === 'POST' ? '{}' : undefined;
      const headers = { Authorization: `Bearer ${code}` };
      expect(await page.send(path, { method, headers, body })).toMatchObject({ status: 401, code: 'token' });
    }
    await page.signIn(code);
  });

  test('without a link that was asked for, nothing signs in', async () => {
    const pages = new Pages();
    const host = pages.host(`
      import { startPage } from 'agent-bash/page';
      console.log('PORT', (await startPage()).port);`);
    const [, port] = await host.says(/PORT (\d+)/);
    const { Page } = await import('./support.ts');
    const page = new Page(host, Number(port));
    for (const code of ['', 'null', 'undefined']) {
      expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    }
  });
});

describe.concurrent('the token', () => {
  test.each([
    ['a query', (token: string) => [`/api/history?token=${token}&Authorization=Bearer%20${token}`, {}]],
    ['a cookie', (token: string) => ['/api/history', { Cookie: token }]],
    ['another scheme', (token: string) => ['/api/history', { Authorization: `Basic ${token}` }]],
    ['no scheme', (token: string) => ['/api/history', { Authorization: token }]],
    ['two', (token: string) => ['/api/history', { Authorization: `Bearer x, Bearer ${token}` }]],
    ['a part', (token: string) => ['/api/history', { Authorization: `Bearer ${token.slice(0, -1)}` }]],
    ['a longer one', (token: string) => ['/api/history', { Authorization: `Bearer ${token}a` }]],
    ['another case', (token: string) => ['/api/history', { Authorization: `bearer ${token}` }]],
    [
      'another header',
      (token: string) => ['/api/history', { 'X-Token': token, 'Proxy-Authorization': `Bearer ${token}` }],
    ],
  ] as [string, (token: string) => [string, Record<string, string>]][])('in %s is refused', async (_, build) => {
    const { page, tab } = await served();
    const [path, headers] = build(tab.token);
    expect(await page.send(path, { headers })).toMatchObject({ status: 401, code: 'token' });
    expect((await tab.get('/api/history')).status).toBe(200);
  });

  linuxTest('and the code are in no argument list, no environment and no file', async () => {
    const { pages, page, tab } = await served();
    const events = await tab.events();
    expect(events.status).toBe(200);
    const search = spawn('grep', [
      '-rlaF',
      '-e',
      tab.token,
      '-e',
      page.codes[0] ?? 'x',
      pages.state,
      pages.hosts.runtime,
    ]);
    const found = await new Promise((resolve) => search.on('close', resolve));
    expect(found).toBe(1);
    const { readFileSync, readdirSync } = await import('node:fs');
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      if (Number(pid) === process.pid) continue;
      for (const part of ['cmdline', 'environ']) {
        let text = '';
        try {
          text = readFileSync(`/proc/${pid}/${part}`, 'utf8');
        } catch {}
        expect(text.includes(tab.token) || text.includes(page.codes[0] ?? 'x')).toBe(false);
      }
    }
  });
});

describe.concurrent('a second user', () => {
  const asNobody = testNeeding('root', isRoot);

  asNobody('reaches the page, but none of its data without a code', async () => {
    const { page } = await served();
    const ask = (script: string) =>
      new Promise<string>((resolve) => {
        const child = spawn('/usr/bin/env', ['node', '-e', script], {
          uid: 65534,
          gid: 65534,
          cwd: '/',
          env: { PATH: process.env.PATH },
        });
        let said = '';
        child.stdout.on('data', (text) => {
          said += text;
        });
        child.on('close', () => resolve(said.trim()));
      });
    const get = (path: string) => ask(`fetch('${page.origin}${path}').then((reply) => console.log(reply.status))`);
    expect(await get('/')).toBe('200');
    expect(await get('/api/events')).toBe('401');
    expect(await get('/api/history')).toBe('401');
    const post = `fetch('${page.origin}/api/stop', { method: 'POST', body: '{}', headers: { Origin: '${page.origin}', 'Content-Type': 'application/json' } })`;
    expect(await ask(`${post}.then((reply) => console.log(reply.status))`)).toBe('401');
  });
});

describe.concurrent('each reply', () => {
  const POLICY = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];

  function isHardened(headers: Record<string, unknown>) {
    const policy = `${headers['content-security-policy']}`.split('; ');
    expect(policy).toEqual(expect.arrayContaining(POLICY));
    expect(`${policy}`).not.toMatch(/unsafe|\*|https?:|data:|blob:/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
  }

  test('has the headers of security', async () => {
    const { page, tab } = await served();
    for (const path of [
      '/',
      '/app.js',
      '/app.css',
      '/api/history',
      '/api/run?run=x',
      '/none',
      '/api/none',
      '/api/stop',
    ]) {
      isHardened((await tab.get(path)).headers);
      isHardened((await page.send(path)).headers);
      isHardened((await page.send(path, { headers: { Host: 'x' } })).headers);
      isHardened((await tab.post(path, {})).headers);
    }
    const events = await tab.events();
    isHardened(events.response?.headers ?? {});
  });

  test('has them even if Node could not read the request', async () => {
    const { page } = await served();
    const host = `Host: 127.0.0.1:${page.port}\r\n`;
    for (const [text, status] of [
      ['garbage\r\n\r\n', 400],
      ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
      [`GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      [`GET / HTTP/9.9\r\n${host}\r\n`, 400],
      [`CONNECT evil.test:443 HTTP/1.1\r\n${host}\r\n`, 405],
      [`GET / HTTP/1.1\r\n${host}Expect: the-unexpected\r\nConnection: close\r\n\r\n`, 417],
    ] as const) {
      const said = await page.raw(text);
      expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      const headers = Object.fromEntries(
        said
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': '))
          .map(([name = '', value]) => [name.toLowerCase(), value]),
      );
      isHardened(headers);
    }
  });

  test('of the document has nothing inline and no data', async () => {
    const { page } = await served();
    const { text, headers } = await page.send('/');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<style|<script(?![^>]* src="\/app\.js")|\son\w+=|style="|javascript:|http:|https:/);
    expect((await page.send('/app.js')).headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect((await page.send('/app.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  });
});

describe.concurrent('garbage', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'the method %s is refused',
    async (method) => {
      const { page, tab } = await served();
      for (const path of ['/', '/api/stop', '/api/events', '/none']) {
        expect((await page.send(path, { method, headers: tab.authorization })).status).toBe(405);
      }
    },
  );

  test('a method that the path does not take is refused', async () => {
    const { tab, page } = await served();
    for (const [method, path] of PATHS) {
      const other = method === 'GET' ? tab.post(path, {}) : page.send(path, { headers: tab.authorization });
      expect(await other).toMatchObject({ status: 405, code: 'method' });
    }
  });

  test.each([
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
    '/?x',
    `/${'a'.repeat(8_000)}`,
  ])('a path leads nowhere: %#', async (path) => {
    const { tab } = await served();
    const { status } = await tab.get(path);
    expect(status).toBe(path === '/?x' ? 200 : 404);
  });

  test('the server outlives all of it', async () => {
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

describe.concurrent('a request in another', () => {
  const smuggled = (page: Page, token: string) =>
    `POST /api/stop HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

  test.each([
    ['Content-Length and Transfer-Encoding', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n', 'abcd'],
    ['a length that is none', 'Content-Length: +4\r\n', 'abcd'],
    ['a coding that is not the last', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'],
    ['a coding with a tail', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a chunk with a bad size', 'Transfer-Encoding: chunked\r\n', '-1\r\n\r\n'],
  ])('is refused with %s', async (_, lines, body) => {
    const { page, tab } = await served();
    const head = `POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nOrigin: ${page.origin}\r\nContent-Type: application/json\r\n${lines}\r\n`;
    const said = await page.raw(head + body + smuggled(page, tab.token));
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(said.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });

  test('in a body that is refused unread is no request', async () => {
    const { page, tab } = await served();
    const inner = smuggled(page, tab.token);
    const said = await page.raw(
      `POST /api/sign-in HTTP/1.1\r\nHost: evil.test\r\nContent-Length: ${inner.length}\r\n\r\n${inner}GET /none HTTP/1.1\r\nHost: 127.0.0.1:${page.port}\r\nConnection: close\r\n\r\n`,
    );
    expect([...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['421', '404']);
  });
});

describe.concurrent('a body', () => {
  test('has at most 64 KiB, announced or not', async () => {
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

  test('without an end is not kept: the connection is closed', async () => {
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

  test.each([
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
    'TOO LONG',
    '{"run":"x"}{',
  ])('of %j is refused with 400', async (body) => {
    const { page, tab } = await served();
    const sent = body.replace('TOO LONG', JSON.stringify({ run: 'x'.repeat(1_001) }));
    const reply = await page.send('/api/stop', { method: 'POST', headers: tab.authorization, body: sent });
    expect(reply).toMatchObject({ status: 400, code: 'invalid' });
  });

  test('that is no UTF-8 is refused with 400', async () => {
    const { page, tab } = await served();
    const body = Buffer.from('{"run":"\xff\xfe"}', 'latin1');
    expect(await page.send('/api/stop', { method: 'POST', headers: tab.authorization, body })).toMatchObject({
      status: 400,
      code: 'invalid',
    });
  });

  test('is asked for with 100 Continue only after all checks', async () => {
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

test('a flood of requests delays no other for long', async () => {
  const { page, tab } = await served();
  const flood = Array.from({ length: 400 }, () => page.send('/api/events').catch(() => null));
  const reply = await tab.get('/api/history').catch(() => null);
  await Promise.all(flood);
  expect(reply === null || reply.status === 200).toBe(true);
  expect((await tab.get('/api/history')).status).toBe(200);
});
