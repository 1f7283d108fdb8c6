import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { finished } from '../support/index.ts';
import { PATHS } from './paths.ts';
import { Pages, type Sent, served } from './support.ts';

const KEEP = { 'Sec-Fetch-Site': '' };

describe.concurrent('another page on this machine', () => {
  test('of another origin on the loopback is refused, with and without Sec-Fetch headers', async () => {
    const { page, tab } = await served();
    const other = createServer((_, response) => response.end('an agent at work'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    finished(() => {
      other.close();
    });
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    for (const { method, path, body } of PATHS) {
      if (path === '/') continue;
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

  test('a form of another page is refused for its content type, origin and site', async () => {
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

  test('a no-cors fetch is refused, and so is a preflight request', async () => {
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

  test('a link from any site opens the document, which contains no data', async () => {
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
    for (const { method, path, body } of PATHS) {
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
  test('to 127.0.0.1 only', async () => {
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

  test('to an address that no option changes', async () => {
    const pages = new Pages();
    const host = pages.host(`
      import { startPage } from 'agent-bash/page';
      await startPage({ host: '0.0.0.0' }).catch((error) => console.log(error.code));`);
    await host.says(/ERR_BASH_INVALID_ARG/);
  });
});
