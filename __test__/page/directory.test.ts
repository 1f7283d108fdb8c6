import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { folder, isRoot, linuxTest, testNeeding, until } from '../support/index.ts';
import { fakeHost, greets, isWell, RUN } from './fake-host.ts';
import { named, opened, Pages } from './support.ts';

describe.concurrent('a directory of sockets', () => {
  const asRoot = testNeeding('root', isRoot);

  asRoot('of another user is not trusted', async () => {
    const { pages, events } = await opened();
    fakeHost(pages, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    await events.run(named('fake'));
    const hosts = pages.hosts.directory;
    const other = new Pages();
    mkdirSync(join(other.hosts.directory, '..'), { mode: 0o700 });
    symlinkSync(hosts, other.hosts.directory);
    const linked = await (await (await other.serve()).signIn()).events();
    const third = new Pages();
    fakeHost(third, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    spawn('chown', ['-R', '65534', third.hosts.directory]);
    const foreign = await (await (await third.serve()).signIn()).events();
    const fourth = new Pages();
    fakeHost(fourth, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    spawn('chown', ['65534', join(fourth.hosts.directory, '77777.sock')]);
    const socket = await (await (await fourth.serve()).signIn()).events();
    const fifth = new Pages();
    fakeHost(fifth, '77777.sock', greets({ state: { runs: [RUN], asks: [] } }));
    chmodSync(fifth.hosts.directory, 0o755);
    const open = await (await (await fifth.serve()).signIn()).events();
    await sleep(2_500);
    for (const events of [linked, foreign, socket, open]) expect([events.live, events.view.hosts]).toEqual([[], []]);
  });

  linuxTest('with a path too long for a socket address works', async () => {
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

  test('that is created later is found', async () => {
    const { pages, events } = await opened();
    await isWell(pages, events);
  });
});
