import { describe, expect, test } from 'vitest';
import { served } from './support.ts';

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
    expect(headers).not.toHaveProperty('set-cookie');
  }

  test('has the security headers', async () => {
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

  test('has the security headers even if Node cannot parse the request', async () => {
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

  test('with a file has its type, and the document has nothing inline and no data', async () => {
    const { page } = await served();
    const { text, headers } = await page.send('/');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<style|<script(?![^>]* src="\/app\.js")|\son\w+=|style="|javascript:|http:|https:/);
    expect((await page.send('/app.js')).headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect((await page.send('/app.css')).headers['content-type']).toBe('text/css; charset=utf-8');
  });
});
