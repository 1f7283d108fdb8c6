import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { IDLE } from '../host/support.ts';
import { alive, finished, folder, replaceFile, until } from '../support/index.ts';
import { named, opened, Pages } from './support.ts';

describe.concurrent('hosts come and go', () => {
  test('the first events are a welcome and the state', async () => {
    const { events } = await opened();
    await until(() => events.all.length >= 2, 'two events');
    expect(events.all.slice(0, 2).map(({ name }) => name)).toEqual(['welcome', 'state']);
    expect(events.welcome).toMatchObject({ control: true, stream: expect.any(String), version: expect.any(String) });
  });

  test('commands of earlier and of later hosts are shown with their hosts', async () => {
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

  test('a run that begins and ends between two updates is reported with its end', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`${IDLE} process.on('SIGUSR1', () => bash('exit 7'));`);
    await events.run(named('begun'));
    host.process.kill('SIGUSR1');
    const [id] = await until(() => [...events.view.ended].find(([, end]) => end.exitCode === 7), 'the end');
    expect(events.view.runs.get(id)).toMatchObject({ command: 'exit 7' });
    expect(events.view.ended.get(id)).toMatchObject({ state: 'exited' });
  });

  test('a host that exits disappears with its runs', async () => {
    const { pages, events } = await opened();
    const go = join(folder(), 'go');
    const host = pages.host(`await bash('until [ -e ${go} ]; do sleep 0.05; done; exit 4', { ledger: true });`);
    const run = await events.run(named('exit 4'));
    writeFileSync(go, '');
    await host.ended();
    await until(() => events.view.hosts.length === 0, 'no host');
    await events.end(run.id, ({ exitCode }) => exitCode === 4);
  });

  test('runs of a killed host are lost at once, until the ledger says how they ended', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`bash('sleep 1000', { ledger: true }).catch(() => {}); ${IDLE}`);
    const run = await events.run(named('sleep 1000'));
    await events.run(named('begun'));
    host.process.kill('SIGKILL');
    await until(() => events.live.length === 0, 'no run');
    await until(() => events.view.hosts.length === 0, 'no host');
    // The shim has terminated the command and written its end to the ledger.
    await events.end(run.id, ({ state }) => state !== 'lost');
  });

  test('a killed host that its parent has not reaped is gone, too', async () => {
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

  test('a task that outlives its host is shown, and can be followed and stopped', async () => {
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

  test('a task that two hosts report is shown once, until neither reports it', async () => {
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

  test('a task that runs elsewhere is not shown, so no process here is offered to be stopped', async () => {
    const { pages, events } = await opened();
    const host = pages.host(`
      import { defaultRegistry } from 'agent-bash';
      const { id } = await defaultRegistry().start('exec sleep 995');
      await defaultRegistry().start('exec sleep 996');
      console.log('TASK ' + id);
      setInterval(() => {}, 1e6);`);
    const [, id = ''] = await host.says(/TASK (\S+)/);
    await events.run(named('995'));
    const { taskId } = await events.run(named('996'));
    // The directory is shared with another machine, which has started this task.
    const path = join(pages.state, 'agent-bash/tasks', `${id}.json`);
    const task = JSON.parse(readFileSync(path, 'utf8'));
    finished(() => replaceFile(path, JSON.stringify(task)));
    replaceFile(path, JSON.stringify({ ...task, boot: `${task.boot}x`, hostName: 'other' }));
    host.process.kill('SIGKILL');
    await events.run(({ id }) => id === `task:${taskId}`);
    await until(() => !events.live.some(named('995')), 'the other one is gone');
  });

  test('a task of a registry with its own directory is shown through its host', async () => {
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

  test('a second copy of the package in one process is another host', async () => {
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
