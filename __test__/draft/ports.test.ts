import { once } from 'node:events';
import { connect } from 'node:net';
import { BackgroundRegistry, bash, type Draft, type DraftOptions } from 'agent-bash';
import { describe, expect, it } from 'vitest';
import { host, rejection, until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

const PORT = 3000;

/** Starts a server in a draft, which answers with a text. */
function serve(draft: Draft, text: string, address = '127.0.0.1') {
  return started(draft, `require('http').createServer((_, to) => to.end('${text}'))`, address);
}

/** Starts a server, which is made by this code. */
async function started(draft: Draft, server: string, address = '127.0.0.1') {
  const registry = new BackgroundRegistry({ draft });
  const code = `const server = ${server}; server.listen(${PORT}, '${address}', () => console.log('up'))`;
  const task = await registry.start(`exec node -e "${code}"`);
  await registry.wait(task.id, { pattern: 'up' });
  return { end: () => registry.kill(task.id) };
}

/** Expects that a connection to a port here is refused or reset. `fetch` of Node 20 may wait forever for that. */
async function endsWithoutAnswer(port = 0) {
  const socket = connect(port, '127.0.0.1');
  const ended = await once(socket.resume(), 'close').catch((error) => error.code);
  expect([ended, socket.bytesRead]).toEqual([expect.stringMatching(/^ECONN(RESET|REFUSED)$/), 0]);
}

const answer = async (url: string | undefined) => (await fetch(url ?? '')).text();

describe('a port of a draft', () => {
  draftTest('leads to the server of that draft, though others have the same port', async () => {
    const { open } = project();
    const found = [];
    for (const text of ['one', 'two', 'three']) {
      const draft = await open({ expose: [PORT] });
      await serve(draft, text);
      found.push(await answer((await draft.port(PORT))?.url));
    }
    expect(found).toEqual(['one', 'two', 'three']);
  });

  draftTest('keeps its place here over servers and commits', async () => {
    const { open } = project();
    const draft = await open({ expose: [PORT] });
    const place = await draft.port(PORT);
    expect(place).toEqual({ port: expect.any(Number), url: `http://127.0.0.1:${place?.port}` });
    await endsWithoutAnswer(place?.port);
    const first = await serve(draft, 'first');
    expect(await answer(place?.url)).toBe('first');
    await first.end();
    await bash('echo 1 >new; echo 1 >other', { draft });
    await until(() => draft.commit({ paths: ['new'] }).catch(() => undefined));
    await serve(draft, 'second', '::1');
    expect(await draft.port(PORT)).toEqual(place);
    expect(await answer(place?.url)).toBe('second');
    await draft.close();
    await endsWithoutAnswer(place?.port);
  });

  draftTest("is none unless it is exposed, and with 'auto' unless a server listens", async () => {
    const { open } = project();
    const none = await open();
    const listed = await open({ expose: [1] });
    const auto = await open({ expose: 'auto' });
    for (const draft of [none, listed, auto]) expect(await draft.port(PORT)).toBe(null);
    for (const draft of [none, auto]) await serve(draft, 'up', '0.0.0.0');
    expect(await none.port(PORT)).toBe(null);
    expect(await answer((await auto.port(PORT))?.url)).toBe('up');
  });

  draftTest("is looked for without a connection with 'auto': a server may take only one", async () => {
    const { open } = project();
    const draft = await open({ expose: 'auto' });
    await started(draft, "require('net').createServer((visitor) => { visitor.end('once'); server.close() })");
    await draft.port(PORT);
    const place = await draft.port(PORT);
    const socket = connect(place?.port ?? 0, '127.0.0.1');
    expect(String(await once(socket, 'data'))).toBe('once');
  });

  draftTest('leads another process to the server that one has started', async () => {
    const { root, open } = project();
    const draft = await open({ expose: 'auto' });
    await serve(draft, 'shared');
    const other = host(`import { openDraft } from 'agent-bash';
      const draft = await openDraft({ id: ${JSON.stringify(draft.id)}, root: ${JSON.stringify(root)} });
      await bash('true', { draft });
      console.log('said=' + await (await fetch((await draft.port(${PORT})).url)).text());`);
    expect((await other.says(/^said=(.*)/m))[1]).toBe('shared');
  });

  draftTest('takes many connections at once, and bytes in both directions', async () => {
    const { open } = project();
    const draft = await open({ expose: [PORT] });
    await serve(draft, 'x'.repeat(9999));
    const url = (await draft.port(PORT))?.url;
    const all = await Promise.all(Array.from({ length: 100 }, () => answer(url)));
    expect(new Set(all)).toEqual(new Set(['x'.repeat(9999)]));
  });

  draftTest("is refused with network 'full'", async () => {
    const { open } = project();
    expect(await rejection(() => open({ expose: [PORT], confine: { network: 'full' } }))).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining('leave expose out'),
    });
  });
});

describe('an invalid port', () => {
  const wrong: DraftOptions['expose'][] = [[0], [65_536], [1.5], 'all' as 'auto', 3000 as never, Array(65).fill(1)];

  for (const expose of wrong) {
    it(`is refused: ${JSON.stringify(expose)?.slice(0, 20)}`, async () => {
      const { open } = project();
      expect(await rejection(() => open({ expose }))).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    });
  }

  draftTest('is refused by port()', async () => {
    const draft = await project().open({ expose: 'auto' });
    expect(await rejection(() => draft.port(0))).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });
});
