import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { IDLE } from '../host/support.ts';
import { alive, finished, folder, isRoot, linuxTest, testNeeding, until } from '../support/index.ts';
import { floods, greets, HELLO, liar, RUN } from './liar.ts';
import { type Data, type Events, Pages } from './support.ts';

/** A page with an open tab. */
async function opened(control = true) {
  const pages = new Pages();
  const page = await pages.serve({ control });
  const tab = await page.signIn();
  return { pages, page, tab, events: await tab.events() };
}

const named = (word: string) => (run: Data) => run.command.includes(word);

describe.concurrent('hosts come and go', () => {
  test('the first events are a welcome and the state', async () => {
    const { events } = await opened();
    await until(() => events.all.length >= 2, 'two events');
    expect(events.all.slice(0, 2).map(({ name }) => name)).toEqual(['welcome', 'state']);
    expect(events.welcome).toMatchObject({ control: true, stream: expect.any(String), version: expect.any(String) });
  });

  test('commands of hosts that are there, and of hosts that come, are shown with their hosts', async () => {
    const pages = new Pages();
    const before = pages.host(IDLE);
    await pages.hosts.listens(before);
    const page = await pages.serve();
    const events = await (await page.signIn()).events();
    const first = await events.run(({ host }) => host === `${before.pid}`);
    expect(first).toMatchObject({
      command: 'echo begun; exec sleep 1000',
      kind: 'command',
      state: 'running',
      tokens: expect.any(Array),
    });
    const after = pages.host(`bash('sleep 999', { cwd: '/', actor: { agent: 'builder' } }).catch(() => {});`);
    expect(await events.run(named('999'))).toMatchObject({
      host: `${after.pid}`,
      actor: { agent: 'builder' },
      project: { path: '/' },
    });
    expect(events.view.hosts.map(({ pid }) => pid).sort()).toEqual([before.pid, after.pid].sort());
    expect(events.view.hosts[0]).toMatchObject({ program: expect.stringMatching(/^node/) });
  });

  test('a page that is served in the process of an agent shows its commands', async () => {
    const pages = new Pages();
    const page = await pages.serve(
      { control: true },
      `
      setTimeout(() => bash('echo of the agent; sleep 1000').then(({ status }) => console.log('ENDED', status)), 200);`,
    );
    const tab = await page.signIn();
    const events = await tab.events();
    const run = await events.run(named('of the agent'));
    expect(run.host).toBe(`${page.host.pid}`);
    expect((await tab.post('/api/stop', { run: run.id })).status).toBe(200);
    await page.host.says(/ENDED aborted/);
  });

  test('a run that begins and ends between two looks is told with its end', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`${IDLE} process.on('SIGUSR1', () => bash('exit 7'));`);
    await events.run(named('begun'));
    host.process.kill('SIGUSR1');
    const [id] = await until(() => [...events.view.ended].find(([, end]) => end.exitCode === 7), 'the end');
    expect(events.view.runs.get(id)).toMatchObject({ command: 'exit 7' });
    expect(events.view.ended.get(id)).toMatchObject({ state: 'exited' });
  });

  test('a host that ends leaves no runs and no host', async () => {
    const { pages, events } = await opened();
    const go = join(folder(), 'go');
    const host = pages.host(`await bash('until [ -e ${go} ]; do sleep 0.05; done; exit 4', { ledger: true });`);
    const run = await events.run(named('exit 4'));
    writeFileSync(go, '');
    await host.ended();
    await until(() => events.view.hosts.length === 0, 'no host');
    await events.end(run.id, ({ exitCode }) => exitCode === 4);
  });

  test('runs of a host that was killed are lost at once, and settled from the ledger', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`bash('sleep 1000', { ledger: true }).catch(() => {}); ${IDLE}`);
    const run = await events.run(named('sleep 1000'));
    await events.run(named('begun'));
    host.process.kill('SIGKILL');
    await until(() => events.live.length === 0, 'no run');
    await until(() => events.view.hosts.length === 0, 'no host');
    // The shim has ended the command, and written that.
    await events.end(run.id, ({ state }) => state !== 'lost');
  });

  test('a host that was killed and that nobody has waited for is gone, too', async () => {
    const { pages, events } = await opened();
    const parent = pages.host(`
      import { spawn } from 'node:child_process';
      const child = spawn('sh', ['-c', \`"$0" --input-type=module -e "$1" & echo $!; exec sleep 1000\`, process.execPath,
        "import { bash } from 'agent-bash'; bash('sleep 998').catch(() => {});"]);
      console.log('PARENT', child.pid);
      child.stdout.on('data', (text) => console.log('PID', String(text)));`);
    const [, sleeping] = await parent.says(/PARENT (\d+)/);
    finished(() => {
      process.kill(Number(sleeping), 'SIGKILL');
    });
    const [, pid] = await parent.says(/PID (\d+)/);
    await events.run(named('998'));
    process.kill(Number(pid), 'SIGKILL');
    await until(() => events.live.length === 0, 'no run');
    await until(() => events.view.hosts.length === 0, 'no host');
  });

  test('a task of a host that has ended goes on, is shown, and can be followed and stopped', async () => {
    const { pages, tab, events } = await opened();
    const host = pages.host(`
      import { defaultRegistry } from 'agent-bash';
      await defaultRegistry().start('while echo more; do sleep 0.1; done');
      setInterval(() => {}, 1e6);`);
    const task = await events.run(named('more'));
    expect(task).toMatchObject({ kind: 'task', host: `${host.pid}`, taskId: expect.any(String) });
    host.process.kill('SIGKILL');
    const orphan = await events.run(({ host }) => host === null);
    expect(orphan).toMatchObject({
      taskId: task.taskId,
      command: task.command,
      actor: task.actor,
      runId: task.runId,
    });
    expect(events.live).toHaveLength(1);
    expect(events.view.ended.size).toBe(0);
    await tab.follow(events, orphan.id);
    const length = await until(() => events.text(orphan.id).length, 'its output');
    await until(() => events.text(orphan.id).length > length, 'more output');
    expect((await tab.post('/api/input', { run: orphan.id, text: 'x' })).code).toBe('gone');
    expect((await tab.post('/api/stop', { run: orphan.id })).status).toBe(200);
    expect(await events.end(orphan.id)).toMatchObject({ state: 'signaled' });
    await until(() => events.outputs(orphan.id).at(-1)?.end, 'the end of its output');
    await sleep(300);
    expect(events.outputs(orphan.id).filter(({ end }) => end)).toHaveLength(1);
    expect(alive(orphan.pid)).toBe(false);
  });

  test('a task that two hosts report is shown once, and until both have let go of it', async () => {
    const { pages, events } = await opened();
    const host = (more: string) =>
      pages.host(`
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(pages.state)} + '/agent-bash' });
      ${more}
      ${IDLE}`);
    host(`await registry.start('sleep 997');`);
    const task = await events.run(named('997'));
    const other = host('registry.list();');
    await events.run(({ host }) => host === `${other.pid}`);
    await sleep(300);
    expect(events.live.filter(named('997'))).toHaveLength(1);
    other.process.kill('SIGKILL');
    await until(() => events.live.filter(named('begun')).length === 1, 'the other is gone');
    expect(events.live.filter(named('997'))).toMatchObject([{ id: task.id }]);
    expect(events.view.ended.has(task.id)).toBe(false);
  });

  test('a task of a registry with a directory of its own is known from its host', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(folder())} });
      await registry.start('echo of its own; sleep 1000');
      setInterval(() => {}, 1e6);`);
    const task = await events.run(named('of its own'));
    expect((await tab.post('/api/stop', { run: task.id })).status).toBe(200);
    expect(await events.end(task.id)).toMatchObject({ state: 'aborted' });
  });

  test('a host that is stuck in JavaScript is shown, and its command can be followed and stopped', async () => {
    const { pages, tab, events } = await opened();
    const host = pages.host(`
      bash('echo begun; sleep 1000').catch(() => {});
      setTimeout(() => { console.log('stuck'); while (true); }, 500);`);
    await host.says(/stuck/);
    const run = await events.run(({ pid }) => pid);
    await tab.follow(events, run.id);
    await until(() => events.text(run.id) === 'begun\n', 'its output');
    expect((await tab.post('/api/stop', { run: run.id })).status).toBe(200);
    expect(await events.end(run.id)).toMatchObject({ state: 'aborted' });
    await until(() => !alive(run.pid), 'it is gone');
  });

  test('a second package in one process is a host of its own', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`
      import { cpSync, readdirSync, symlinkSync, mkdirSync } from 'node:fs';
      import { createRequire } from 'node:module';
      const other = ${JSON.stringify(folder())} + '/agent-bash';
      mkdirSync(other);
      for (const name of readdirSync('.')) {
        if (/^(dist|package.json|agent-bash.*)$/.test(name)) cpSync(name, other + '/' + name, { recursive: true });
      }
      bash('sleep 996').catch(() => {});
      const { bash: second } = createRequire(import.meta.url)(other + '/dist/index.cjs');
      second('sleep 995').catch(() => {});`);
    const [one, two] = [await events.run(named('996')), await events.run(named('995'))];
    expect([one.host, two.host].sort()).toEqual([`${host.pid}`, `${host.pid}-1`]);
  });
});

/** Starts a real host, and waits until its command is shown and its end is told: the page is well. */
async function isWell(pages: Pages, events: Events): Promise<void> {
  const host = pages.host(`${IDLE} process.on('SIGUSR1', () => bash('echo still; exit 5'));`);
  await events.run((run) => run.host === `${host.pid}`);
  host.process.kill('SIGUSR1');
  await until(() => [...events.view.ended.values()].some(({ exitCode }) => exitCode === 5), 'the end');
}

describe.concurrent('a host that lies costs itself alone', () => {
  const long = Buffer.alloc(3_000_000, 'x');
  test.each<[string, (object | string | Buffer)[]]>([
    ['a line without an end', [long]],
    ['a long line', ['{"state":"', long, '"}\n']],
    ['no JSON', ['hello\n']],
    ['invalid UTF-8', [Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a])]],
    ['NUL bytes', ['\0\0\0\n']],
    ['an array', ['[1]\n']],
    ['null', ['null\n']],
    ['another message', [{ dance: 1 }]],
    [
      'state of another type',
      [{ state: 7 }, { state: null }, { state: [] }, { state: { runs: 'x', asks: { length: 9 } } }],
    ],
    [
      'runs of other types',
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
      'changes of what is not there',
      [{ change: { ended: [{ key: 'nothing' }], answered: ['nothing', 7], runs: {}, asks: 'x' } }],
    ],
    ['answers to nothing', ['{"re":99,"ok":true}\n{"re":-1}\n{"re":"x","error":7}\n']],
    [
      'names of prototypes',
      [
        '{"state":{"runs":[{"key":"__proto__"},{"key":"constructor","actor":{"__proto__":{"agent":"x"}}}],"asks":[]}}\n',
      ],
    ],
    ['another protocol', [{ hello: { protocol: 99 } }]],
    [
      'output that nobody asked for',
      [{ output: { run: 'c1', text: 'x' } }, { screen: { run: 'c1', lines: 7, cursor: ['x'] } }],
    ],
  ])('with %s', async (_, messages) => {
    const { pages, page, events } = await opened();
    liar(pages, '77777.sock', greets(...messages));
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

  test('with silence, with an end, or with nothing but a hello', async () => {
    const { pages, events } = await opened();
    liar(pages, '77771.sock', () => {});
    liar(pages, '77772.sock', (socket) => socket.end());
    liar(pages, '77773.sock', (socket, line) => line.hello && socket.end(`${JSON.stringify(HELLO)}\n`));
    liar(pages, '77774.sock', (socket, line) => {
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
    liar(pages, '77777.sock', async (socket, line) => {
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
    liar(pages, '77777.sock', floods());
    await events.run(({ host }) => host === '77777');
    await isWell(pages, events);
  });

  test('about a task of another host: that is still shown', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`
      import { defaultRegistry } from 'agent-bash';
      await defaultRegistry().start('sleep 994');
      setInterval(() => {}, 1e6);`);
    const task = await events.run((run) => named('994')(run) && run.host === `${host.pid}`);
    const claimed = { ...RUN, key: 't1', kind: 'task', taskId: task.taskId };
    liar(
      pages,
      '77777.sock',
      greets(
        { state: { runs: [claimed], asks: [] } },
        { change: { runs: [], ended: [{ key: 't1', state: 'exited' }], asks: [], answered: [] } },
      ),
    );
    await until(() => events.view.hosts.some(({ id }) => id === '77777'), 'the liar');
    await isWell(pages, events);
    expect(events.live.filter(named('994'))).toMatchObject([{ id: task.id }]);
  });

  test('what has the name of a socket and is none is left alone', async () => {
    const { pages, page, events } = await opened();
    const elsewhere = folder();
    mkdirSync(pages.hosts.directory, { recursive: true, mode: 0o700 });
    chmodSync(join(pages.hosts.directory, '..'), 0o700);
    const place = (name: string) => join(pages.hosts.directory, name);
    // A host that begins may try whether anybody listens, but says nothing.
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

describe.concurrent('a directory of sockets', () => {
  const asRoot = testNeeding('root', isRoot);

  asRoot('of another user is not trusted', async () => {
    const { pages, events } = await opened();
    liar(pages, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    await events.run(named('liar'));
    const hosts = pages.hosts.directory;
    const other = new Pages();
    mkdirSync(join(other.hosts.directory, '..'), { mode: 0o700 });
    symlinkSync(hosts, other.hosts.directory);
    const linked = await (await (await other.serve()).signIn()).events();
    const third = new Pages();
    liar(third, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    spawn('chown', ['-R', '65534', third.hosts.directory]);
    const foreign = await (await (await third.serve()).signIn()).events();
    const fourth = new Pages();
    liar(fourth, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    spawn('chown', ['65534', join(fourth.hosts.directory, '77777.sock')]);
    const socket = await (await (await fourth.serve()).signIn()).events();
    const fifth = new Pages();
    liar(fifth, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    chmodSync(fifth.hosts.directory, 0o755);
    const open = await (await (await fifth.serve()).signIn()).events();
    await sleep(2_500);
    for (const events of [linked, foreign, socket, open]) expect([events.live, events.view.hosts]).toEqual([[], []]);
  });

  linuxTest('with a path that is too long for a socket is reached', async () => {
    const long = join(folder(), 'd'.repeat(200));
    mkdirSync(long, { mode: 0o700 });
    const pages = new Pages(long);
    const tab = await (await pages.serve({ control: true })).signIn();
    const events = await tab.events();
    pages.host(`bash('echo far away; sleep 1000').catch(() => {});`);
    const run = await events.run(named('far away'));
    await tab.follow(events, run.id);
    await until(() => events.text(run.id) === 'far away\n', 'its output');
    expect((await tab.post('/api/stop', { run: run.id })).status).toBe(200);
    await events.end(run.id);
  });

  test('that is made later is found', async () => {
    const { pages, events } = await opened();
    await until(() => events.named('state').length > 0, 'the state');
    await isWell(pages, events);
  });
});
