import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { finished, settles, until } from '../support/index.ts';
import { Pages } from './support.ts';

/** Runs a program that has imported `startPage`. Returns what it prints. */
async function printed(source: string): Promise<string> {
  const pages = new Pages();
  const host = pages.host(`import { startPage } from 'agent-bash/page';\n${source}`);
  const { code } = await host.ended();
  expect([code, host.stderr()]).toEqual([0, '']);
  return host.stdout();
}

describe.concurrent('startPage', () => {
  test('serves a page until it is closed, which ends the process', async () => {
    const text = await printed(`
      const page = await startPage();
      console.log(page.url === \`http://127.0.0.1:\${page.port}/#\${page.url.split('#')[1]}\`, page.port > 0);
      console.log((await fetch(\`http://127.0.0.1:\${page.port}/\`)).status);
      await page.close();
      await page.close();
      console.log(await fetch(\`http://127.0.0.1:\${page.port}/\`).catch((error) => error.cause.code));`);
    expect(text).toBe('true true\n200\nECONNREFUSED\n');
  });

  test('keeps its link until a tab uses it, then has another', async () => {
    const text = await printed(`
      const page = await startPage({ control: true, port: 0 });
      const { url } = page;
      console.log(page.url === url);
      const origin = \`http://127.0.0.1:\${page.port}\`;
      const body = JSON.stringify({ code: url.split('#')[1] });
      const headers = { Origin: origin, 'Content-Type': 'application/json' };
      console.log((await fetch(origin + '/api/sign-in', { method: 'POST', headers, body })).status, page.url === url);
      await page.close();`);
    expect(text).toBe('true\n200 false\n');
  });

  test('closes open tabs and disconnects from hosts', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const events = await (await page.signIn()).events();
    const host = pages.host(`bash('sleep 1000').catch(() => {});`);
    await events.run((run) => run.host === `${host.pid}`);
    page.host.process.kill('SIGTERM');
    await page.host.says(/CLOSED/);
    await until(() => events.closed, 'the stream is closed');
    expect(await settles(page.host.ended())).toEqual({ code: 0, signal: null });
    expect(page.host.stderr()).toBe('');
    // The host and its command still run.
    process.kill(host.pid, 0);
    expect(host.stdout()).toBe('');
  });

  test('rejects if the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    finished(() => {
      server.close();
    });
    await until(() => server.address(), 'a port');
    const { port } = server.address() as { port: number };
    const text = await printed(`
      await startPage({ port: ${port} }).catch(({ code, name, message }) => console.log(code, name, message));`);
    expect(text).toBe(
      `ERR_BASH_UNSUPPORTED BashError the page cannot listen on 127.0.0.1:${port}: another program uses this port. Leave out the port for a free one.\n`,
    );
  });

  test('serves two pages in one process, each with its own code', async () => {
    const text = await printed(`
      const [one, two] = [await startPage(), await startPage({ port: 0 })];
      const headers = { Origin: 'http://127.0.0.1:' + two.port, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ code: one.url.split('#')[1] });
      console.log((await fetch(headers.Origin + '/api/sign-in', { method: 'POST', headers, body })).status);
      await one.close();
      console.log((await fetch(headers.Origin)).status);
      await two.close();`);
    expect(text).toBe('403\n200\n');
  });

  test.each([
    ['{ Control: true }', 'Control'],
    ['{ host: "0.0.0.0" }', 'host'],
    ['{ control: 1 }', 'control'],
    ['{ control: null }', 'control'],
    ['{ port: "80" }', 'port'],
    ['{ port: -1 }', 'port'],
    ['{ port: 65536 }', 'port'],
    ['{ port: 1.5 }', 'port'],
    ['{ port: NaN }', 'port'],
    ['null', 'options'],
    ['[]', 'options'],
    ['7', 'options'],
    ['"x"', 'options'],
  ])('rejects the options %s', async (options, name) => {
    const text = await printed(`
      const promise = startPage(${options});
      await promise.then(() => console.log('served'), ({ code, message }) => console.log(code, message));`);
    expect(text).toMatch(/^ERR_BASH_INVALID_ARG /);
    expect(text).toContain(name);
  });

  test('accepts undefined for each option', async () => {
    const text = await printed(`
      const page = await startPage({ control: undefined, port: undefined });
      console.log(page.port > 0);
      await page.close();
      await (await startPage(undefined)).close();`);
    expect(text).toBe('true\n');
  });

  test('can be required', async () => {
    const text = await printed(`
      import { createRequire } from 'node:module';
      const { startPage: required } = createRequire(import.meta.url)('agent-bash/page');
      const page = await required();
      console.log(page.url.startsWith('http://127.0.0.1:'));
      await page.close();`);
    expect(text).toBe('true\n');
  });
});
