import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { finished, place, rejection } from '../support/index.ts';

describe('files of a target', () => {
  test('are written, read, listed and removed', async () => {
    const { target, home } = await place();
    const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    await target.writeFile('a/b/data', bytes, { mode: 0o640 });
    await target.writeFile(`${home}/a/text`, 'é');
    expect(await target.readFile('a/b/data')).toStrictEqual(bytes);
    expect(await target.readFile('a/text')).toStrictEqual(new TextEncoder().encode('é'));
    expect(await target.stat('a/b/data')).toStrictEqual({
      kind: 'file',
      bytes: 300_000,
      mode: 0o640,
      modifiedAt: expect.toSatisfy((at) => Math.abs(at - Date.now()) < 600_000),
    });
    await bash('ln -s text a/link; mkfifo a/pipe', { target });
    expect((await target.list('a'))?.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toStrictEqual([
      { name: 'b', kind: 'directory' },
      { name: 'link', kind: 'link' },
      { name: 'pipe', kind: 'other' },
      { name: 'text', kind: 'file' },
    ]);
    await target.writeFile('a/link', 'changed');
    expect(Buffer.from((await target.readFile('a/text')) ?? []).toString()).toBe('changed');
    expect(await target.remove('a/link')).toBe(true);
    expect(await rejection(() => target.remove('a'))).toMatchObject({ code: 'ENOTEMPTY', target: 'there' });
    expect(await target.remove('a', { recursive: true })).toBe(true);
    expect(await target.remove('a')).toBe(false);
    for (const missing of [target.readFile('a'), target.stat('a'), target.list('a')]) expect(await missing).toBeNull();
  });

  test('reject with the code of the system', async () => {
    const { target } = await place();
    await target.writeFile('file', '');
    expect(await rejection(() => target.readFile('.'))).toMatchObject({ code: 'EISDIR' });
    expect(await rejection(() => target.list('file'))).toMatchObject({ code: 'ENOTDIR' });
    expect(await rejection(() => target.writeFile('file/x', ''))).toMatchObject({ code: 'ENOTDIR' });
  });

  test('reject wrong arguments', async () => {
    const { target } = await place();
    const wrong = 'ERR_BASH_INVALID_ARG';
    // @ts-expect-error a number is no path
    expect(await rejection(() => target.readFile(1))).toMatchObject({ code: wrong });
    expect(await rejection(() => target.readFile(''))).toMatchObject({ code: wrong });
    expect(await rejection(() => target.stat('a\0b'))).toMatchObject({ code: wrong });
    // @ts-expect-error a number is no content
    expect(await rejection(() => target.writeFile('a', 1))).toMatchObject({ code: wrong });
    expect(await rejection(() => target.writeFile('a', '', { mode: 0o10000 }))).toMatchObject({ code: wrong });
    // @ts-expect-error there is no such option
    expect(await rejection(() => target.remove('a', { force: true }))).toMatchObject({ code: wrong });
    await bash('truncate -s 67108865 large', { target });
    expect(await rejection(() => target.readFile('large'))).toMatchObject({ code: wrong });
  });
});

describe('ports of a target', () => {
  async function server(): Promise<number> {
    const listening: Server = createServer((_, response) => response.end('from there'));
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    finished(() => void listening.close());
    return (listening.address() as AddressInfo).port;
  }

  test('are ports of this machine', async () => {
    const { target } = await place();
    const port = await server();
    const forwarded = await target.forward(port);
    expect(forwarded.url).toBe(`http://127.0.0.1:${forwarded.port}`);
    const get = async () => (await fetch(forwarded.url, { headers: { connection: 'close' } })).text();
    expect(await get()).toBe('from there');
    await forwarded.close();
    await forwarded.close();
    await expect(get()).rejects.toThrow();
  });

  test('reject wrong arguments, and a port that is taken', async () => {
    const { target } = await place();
    const taken = await server();
    for (const port of [0, 65_536, 1.5]) {
      expect(await rejection(() => target.forward(port))).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    }
    expect(await rejection(() => target.forward(taken, { localPort: taken }))).toMatchObject({ code: 'EADDRINUSE' });
  });
});
