import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { IDLE, socketsOf } from '../../host/support.ts';
import { type Data, named, opened, Pages } from '../../page/support.ts';
import { folder, linuxTest, until } from '../../support/index.ts';

describe('output', () => {
  test('that is slow enough arrives whole', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`bash('echo whole; for i in $(seq 3000); do echo "line $i"; done; sleep 1000').catch(() => {});`);
    const run = await events.run(named('whole'));
    await tab.follow(events, run.id);
    await until(() => events.text(run.id).endsWith('line 3000\n'), 'the last line');
    expect(events.text(run.id)).toBe(`whole\n${Array.from({ length: 3000 }, (_, at) => `line ${at + 1}\n`).join('')}`);
    expect(events.gap(run.id)).toBe(0);
  });

  test('is not read from a pipe, a link or a directory in the place of its file', async () => {
    const { pages, page, tab, events } = await opened();
    const place = folder();
    execFileSync('mkfifo', [join(place, 'pipe')]);
    execFileSync('ln', ['-s', '/etc/hostname', join(place, 'link')]);
    mkdirSync(join(place, 'directory'));
    // Another kind of file replaces the spill of a real entry.
    const host = pages.host(`
      for (let at = 0; at < 3; at++) {
        const { runId } = await bash('seq 100000', { ledger: true, spill: { dir: ${JSON.stringify(place)} } });
        console.log('RUN', runId);
      }
      console.log('DONE');`);
    await host.says(/DONE/);
    const ids = [...host.stdout().matchAll(/RUN (\S+)/g)].map(([, id = '']) => id);
    for (const [at, name] of ['pipe', 'link', 'directory'].entries()) {
      const { json } = await tab.get(`/api/run?run=${ids[at]}`);
      rmSync(json.entry.outputPath);
      if (name === 'link') symlinkSync('/etc/hostname', json.entry.outputPath);
      else renameSync(join(place, name), json.entry.outputPath);
      await tab.follow(events, ids[at] ?? '');
      const { why } = await until(() => events.named('no-output').find(({ run }) => run === ids[at]), name);
      expect(why).toMatch(/cannot be read/);
    }
    expect((await page.send('/')).status).toBe(200);
  });

  test('is sent for one run at a time, or for none', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`
      bash('while echo first; do sleep 0.05; done').catch(() => {});
      bash('while echo second; do sleep 0.05; done').catch(() => {});`);
    const [first, second] = [await events.run(named('first')), await events.run(named('second'))];
    await tab.follow(events, first.id);
    await until(() => events.text(first.id).includes('first'), 'the first');
    await tab.follow(events, second.id);
    await until(() => events.text(second.id).includes('second'), 'the second');
    const from = events.named('output').length;
    await until(() => events.named('output').length >= from + 5, 'more of it');
    const runs = events.named('output').slice(from);
    expect(new Set(runs.map(({ run }) => run))).toEqual(new Set([second.id]));
    await tab.post('/api/follow', { stream: events.welcome.stream });
    await sleep(200);
    const { length } = events.named('output');
    await sleep(300);
    expect(events.named('output')).toHaveLength(length);
    expect(await tab.post('/api/follow', { stream: 'none', run: first.id })).toMatchObject({
      status: 409,
      code: 'gone',
    });
    await tab.follow(events, '1:nothing');
    await until(() => events.named('no-output').some(({ run }) => run === '1:nothing'), 'a reason');
  });
});

describe('updates', () => {
  test('report each of 200 simultaneous commands', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`
      for (let at = 0; at < 200; at++) bash('sleep 1000 # number ' + at).catch(() => {});`);
    await until(() => events.live.length === 200, '200 commands', 60_000);
    host.process.kill('SIGKILL');
    await until(() => events.live.length === 0, 'none');
  });
});

describe('a connection that breaks', () => {
  test('continues after the last event that the tab received', async () => {
    const { pages, tab, events } = await opened();
    const host = pages.host(`${IDLE} process.on('SIGUSR1', () => bash('exit 8'));`);
    const idle = await events.run(named('begun'));
    await tab.follow(events, idle.id);
    await until(() => events.text(idle.id) === 'begun\n', 'its output');
    const { id, at } = { id: events.all.at(-1)?.id ?? '', at: events.all.length };
    events.close();
    host.process.kill('SIGUSR1');
    await sleep(500);
    const next = await tab.events(id);
    await until(
      () => next.named('change').some(({ ended }) => ended.some(({ exitCode }: Data) => exitCode === 8)),
      'what was missed',
    );
    expect(next.named('welcome')).toEqual([]);
    expect(next.named('state')).toEqual([]);
    const [stream, number] = id.split('.');
    expect(next.all[0]?.id).toBe(`${stream}.${Number(number) + 1}`);
    expect(at).toBe(Number(number));
  });

  test('resends events that were not received', async () => {
    const { pages, tab, events } = await opened();
    pages.host(IDLE);
    await events.run(named('begun'));
    await until(() => events.all.length >= 3, 'three events');
    const lost = events.all.slice(2);
    const again = await tab.events(events.all[1]?.id);
    await until(() => again.all.length >= lost.length, 'the same events');
    expect(again.all.slice(0, lost.length).map(({ id, data }) => ({ id, data }))).toEqual(
      lost.map(({ id, data }) => ({ id, data })),
    );
    await until(() => events.closed, 'the one before is closed');
  });

  test('starts over after an event of another stream or server', async () => {
    const { pages, tab, events } = await opened();
    pages.host(IDLE);
    await events.run(named('begun'));
    for (const last of [
      'x.1',
      'x',
      '.',
      `${events.welcome.stream}.99999`,
      `${events.welcome.stream}.x`,
      `${events.welcome.stream}.-1`,
      '__proto__.1',
    ]) {
      const next = await tab.events(last);
      await next.run(named('begun'));
      expect(next.all.slice(0, 2).map(({ name }) => name)).toEqual(['welcome', 'state']);
      next.close();
    }
  });
});

describe('tabs', () => {
  test('are limited to 32: the next gets 429 until one is closed', async () => {
    const { tab, events } = await opened();
    const all = [events];
    while (all.length < 32) all.push(await tab.events());
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await tab.events()).status).toBe(429);
    all[7]?.close();
    await until(async () => (await tab.events()).status === 200, 'a place is free');
    expect(all.filter(({ closed }) => closed)).toHaveLength(1);
  });

  test('see the same runs and follow different ones', async () => {
    const { pages, page, tab, events } = await opened();
    const other = await page.signIn(await page.another());
    const others = await other.events();
    pages.host(
      `bash('while echo one; do sleep 0.1; done').catch(() => {}); bash('while echo two; do sleep 0.1; done').catch(() => {});`,
    );
    const [one, two] = [await events.run(named('one')), await others.run(named('two'))];
    await tab.follow(events, one.id);
    await other.follow(others, two.id);
    await until(() => events.text(one.id).includes('one') && others.text(two.id).includes('two'), 'both');
    expect([events.text(two.id), others.text(one.id)]).toEqual(['', '']);
  });

  linuxTest('connect to hosts only while one is open', async () => {
    const pages = new Pages();
    const page = await pages.serve();
    const tab = await page.signIn();
    const host = pages.host(IDLE);
    await pages.hosts.listens(host);
    const clients = () => socketsOf(host).filter(({ listens }) => !listens).length;
    await sleep(1_500);
    expect(clients()).toBe(0);
    const events = await tab.events();
    await events.run(named('begun'));
    expect(clients()).toBe(1);
    events.close();
    await until(() => clients() === 0, 'nobody watches');
    await (await tab.events()).run(named('begun'));
  });
});
