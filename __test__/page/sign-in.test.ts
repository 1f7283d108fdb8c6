import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isRoot, linuxTest, testNeeding } from '../support/index.ts';
import { PATHS } from './paths.ts';
import { Page, Pages, served } from './support.ts';

describe.concurrent('cookies', () => {
  test('are never set, and never read', async () => {
    const { page, tab } = await served();
    const cookies = [`token=${tab.token}`, `agent-bash-token=${tab.token}`, `Authorization=Bearer ${tab.token}`];
    for (const { method, path, body } of PATHS) {
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
    expect(first.headers['set-cookie']).toBeUndefined();
    expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    const other = await page.another();
    expect(other).not.toBe(code);
    expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    await page.signIn(other);
  });

  test('signs in only one of several simultaneous requests', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const [code] = page.codes;
    const replies = await Promise.all(Array.from({ length: 8 }, () => page.post('/api/sign-in', { code })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403, 403, 403]);
  });

  test('stays valid after attempts with wrong codes', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const [code = ''] = page.codes;
    for (const wrong of ['', ' ', code.slice(1), `${code}x`, code.toLowerCase(), '0', '__proto__', '\0']) {
      expect(await page.post('/api/sign-in', { code: wrong })).toMatchObject({ status: 403, code: 'code' });
    }
    for (const wrong of [null, 7, [], {}, [code], { code }, true]) {
      expect(await page.post('/api/sign-in', { code: wrong })).toMatchObject({ status: 400, code: 'invalid' });
    }
    for (const { method, path, body } of PATHS) {
      if (!path.startsWith('/api/') || path === '/api/sign-in') continue;
      const headers = { Authorization: `Bearer ${code}` };
      expect(await page.send(path, { method, headers, body })).toMatchObject({ status: 401, code: 'token' });
    }
    await page.signIn(code);
  });

  test('does not exist before `url` is read: no code signs in', async () => {
    const pages = new Pages();
    const host = pages.host(`
      import { startPage } from 'agent-bash/page';
      console.log('PORT', (await startPage()).port);`);
    const [, port] = await host.says(/PORT (\d+)/);
    const page = new Page(host, Number(port));
    for (const code of ['', 'null', 'undefined']) {
      expect(await page.post('/api/sign-in', { code })).toMatchObject({ status: 403, code: 'code' });
    }
  });
});

describe.concurrent('the token', () => {
  test.each([
    ['in a query', (token: string) => [`/api/history?token=${token}&Authorization=Bearer%20${token}`, {}]],
    ['in a cookie', (token: string) => ['/api/history', { Cookie: token }]],
    ['with another scheme', (token: string) => ['/api/history', { Authorization: `Basic ${token}` }]],
    ['without a scheme', (token: string) => ['/api/history', { Authorization: token }]],
    ['behind another token', (token: string) => ['/api/history', { Authorization: `Bearer x, Bearer ${token}` }]],
    [
      'without its last character',
      (token: string) => ['/api/history', { Authorization: `Bearer ${token.slice(0, -1)}` }],
    ],
    ['with another character', (token: string) => ['/api/history', { Authorization: `Bearer ${token}a` }]],
    ['with a lower-case scheme', (token: string) => ['/api/history', { Authorization: `bearer ${token}` }]],
    [
      'in another header',
      (token: string) => ['/api/history', { 'X-Token': token, 'Proxy-Authorization': `Bearer ${token}` }],
    ],
  ] as [string, (token: string) => [string, Record<string, string>]][])('is refused %s', async (_, build) => {
    const { page, tab } = await served();
    const [path, headers] = build(tab.token);
    expect(await page.send(path, { headers })).toMatchObject({ status: 401, code: 'token' });
    expect((await tab.get('/api/history')).status).toBe(200);
  });

  linuxTest('and the code appear in no argument list, environment or file', async () => {
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

  asNobody('reaches the page, but no data without a code', async () => {
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
