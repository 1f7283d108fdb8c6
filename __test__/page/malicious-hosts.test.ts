import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { finished, folder, until } from '../support/index.ts';
import { fakeHost, floods, greets, HELLO, isWell, RUN } from './fake-host.ts';
import { named, opened } from './support.ts';

describe.concurrent('a malicious host harms only itself', () => {
  const long = Buffer.alloc(3_000_000, 'x');
  test.each<[string, (object | string | Buffer)[]]>([
    ['a line without an end', [long]],
    ['a long line', ['{"state":"', long, '"}\n']],
    ['a line that is not JSON', ['hello\n']],
    ['invalid UTF-8', [Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a])]],
    ['NUL bytes', ['\0\0\0\n']],
    ['an array', ['[1]\n']],
    ['null', ['null\n']],
    ['an unknown message', [{ dance: 1 }]],
    [
      'a state of a wrong type',
      [{ state: 7 }, { state: null }, { state: [] }, { state: { runs: 'x', asks: { length: 9 } } }],
    ],
    [
      'runs of wrong types',
      [
        {
          state: {
            runs: [null, 7, 'x', [], { key: [] }, { key: {}, command: 7, ports: 'x', actor: [] }],
            asks: [null],
          },
        },
      ],
    ],
    [
      'numbers out of range',
      [
        {
          state: {
            runs: [
              { ...RUN, startedAt: 1e300, pid: -1, cpuMs: -5, memory: 1e30, ports: [{ port: 1e9 }, { port: -1.5 }] },
            ],
            asks: [],
          },
        },
      ],
    ],
    [
      'changes of unknown runs',
      [{ change: { ended: [{ key: 'nothing' }], answered: ['nothing', 7], runs: {}, asks: 'x' } }],
    ],
    ['answers to no request', ['{"re":99,"ok":true}\n{"re":-1}\n{"re":"x","error":7}\n']],
    [
      'keys that name prototypes',
      [
        '{"state":{"runs":[{"key":"__proto__"},{"key":"constructor","actor":{"__proto__":{"agent":"x"}}}],"asks":[]}}\n',
      ],
    ],
    ['another version of the protocol', [{ hello: { protocol: 99 } }]],
    [
      'output that was not requested',
      [{ output: { run: 'c1', text: 'x' } }, { screen: { run: 'c1', lines: 7, cursor: ['x'] } }],
    ],
  ])('with %s', async (_, messages) => {
    const { pages, page, events } = await opened();
    fakeHost(pages, '77777.sock', greets(...messages));
    await isWell(pages, events);
    expect(page.host.stderr()).toBe('');
    for (const run of events.live) {
      expect(run).toMatchObject({
        command: expect.any(String),
        id: expect.any(String),
        startedAt: expect.any(Number),
      });
      expect(run.startedAt).toBeLessThanOrEqual(8.64e15);
      for (const { port } of run.ports) expect(port).toBeLessThanOrEqual(65_535);
    }
  });

  test('that is silent, or closes before or after its hello', async () => {
    const { pages, events } = await opened();
    fakeHost(pages, '77771.sock', () => {});
    fakeHost(pages, '77772.sock', (socket) => socket.end());
    fakeHost(pages, '77773.sock', (socket, line) => line.hello && socket.end(`${JSON.stringify(HELLO)}\n`));
    fakeHost(pages, '77774.sock', (socket, line) => {
      greets({ state: { runs: [RUN], asks: [] } })(socket, line);
      if (line.do) socket.end();
    });
    await isWell(pages, events);
  });

  test('with more runs than a page shows', async () => {
    const { pages, page, events } = await opened();
    let stopped = false;
    finished(() => {
      stopped = true;
    });
    fakeHost(pages, '77777.sock', async (socket, line) => {
      greets({ state: { runs: [], asks: [] } })(socket, line);
      if (line.do !== 'watch') return;
      for (let at = 0; at < 200_000 && !stopped; at += 500) {
        const runs = Array.from({ length: 500 }, (_, index) => ({ ...RUN, key: `c${at + index}` }));
        if (!socket.write(`${JSON.stringify({ change: { runs, ended: [], asks: [], answered: [] } })}\n`))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
      }
    });
    await isWell(pages, events);
    await sleep(1_000);
    expect(events.live.filter(({ host }) => host === '77777').length).toBeLessThanOrEqual(2_000);
    expect((await page.send('/')).status).toBe(200);
  });

  test('with a flood of messages', async () => {
    const { pages, events } = await opened();
    fakeHost(pages, '77777.sock', floods());
    await events.run(({ host }) => host === '77777');
    await isWell(pages, events);
  });

  test('that reports the end of a task of another host does not hide the task', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`
      import { defaultRegistry } from 'agent-bash';
      await defaultRegistry().start('sleep 994');
      setInterval(() => {}, 1e6);`);
    const task = await events.run((run) => named('994')(run) && run.host === `${host.pid}`);
    const claimed = { ...RUN, key: 't1', kind: 'task', taskId: task.taskId };
    fakeHost(
      pages,
      '77777.sock',
      greets(
        { state: { runs: [claimed], asks: [] } },
        { change: { runs: [], ended: [{ key: 't1', state: 'exited' }], asks: [], answered: [] } },
      ),
    );
    await until(() => events.view.hosts.some(({ id }) => id === '77777'), 'the fake host');
    await isWell(pages, events);
    expect(events.live.filter(named('994'))).toMatchObject([{ id: task.id }]);
  });

  test('other files, links and sockets with other names are not connected to', async () => {
    const { pages, page, events } = await opened();
    const elsewhere = folder();
    mkdirSync(pages.hosts.directory, { recursive: true, mode: 0o700 });
    chmodSync(join(pages.hosts.directory, '..'), 0o700);
    const place = (name: string) => join(pages.hosts.directory, name);
    // A host that starts may connect to test whether the socket is in use, but sends nothing.
    let said = '';
    const listener = () =>
      createServer((socket) => {
        socket
          .on('error', () => {})
          .on('data', (text) => {
            said += text;
          });
      });
    const server = listener().listen(join(elsewhere, 'real.sock'));
    finished(() => {
      server.close();
    });
    symlinkSync(join(elsewhere, 'real.sock'), place('77771.sock'));
    spawn('mkfifo', [place('77772.sock')]);
    writeFileSync(place('77773.sock'), 'x');
    mkdirSync(place('77774.sock'));
    for (const name of ['x.sock', '0.sock', '-1.sock', '1e3.sock', '77775.sock.bak', '77776-1234.sock', '..sock']) {
      listener().listen(place(name)).unref();
    }
    await isWell(pages, events);
    await sleep(2_500);
    expect(said).toBe('');
    expect(page.host.stderr()).toBe('');
  });
});
