import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lasting } from '../../../../confine/support/ground.ts';
import { alive, folder, host, hostResult, kill, mark, sleepers, until } from '../../../../support/index.ts';

const LEAVE = (seconds: string) => `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 & disown; echo x >/tmp/kept`;

describe.runIf(process.platform === 'linux')('worlds', () => {
  test('commands with equal confinement share one, those with other options do not', async () => {
    const cwd = folder();
    await bash('echo x >/tmp/shared', { cwd, confine: 'workspace' });
    expect((await bash('cat /tmp/shared', { cwd, confine: { profile: 'workspace' } })).stdout).toBe('x\n');
    expect((await bash('cat /tmp/shared', { cwd, confine: { expose: [46_331] } })).stdout).toBe('');
    expect((await bash('cat /tmp/shared', { cwd: folder(), confine: 'workspace' })).stdout).toBe('');
  });

  test('sessions and plain calls do not share one', async () => {
    const cwd = folder();
    await bash('echo x >/tmp/shared', { cwd, confine: 'workspace' });
    await using session = new BashSession({ cwd, confine: 'workspace' });
    expect((await session.run('cat /tmp/shared')).stdout).toBe('');
    await session.run('echo y >/tmp/own');
    expect((await session.run('cat /tmp/own')).stdout).toBe('y\n');
  });

  test("the profile's root is the directory that the session was made with", async () => {
    const [cwd, other] = [lasting(), lasting()];
    await using session = new BashSession({ cwd, confine: 'workspace' });
    await session.run(`cd ${other}; echo x >x; echo x >${cwd}/one`);
    await session.run('echo x >x');
    await session.run(`echo x >x; echo x >${cwd}/two`, { cwd: other });
    expect([existsSync(join(other, 'x')), existsSync(join(cwd, 'one')), existsSync(join(cwd, 'two'))]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('one ends with its session, and leaves no process and no file', async () => {
    const seconds = mark();
    const session = new BashSession({ cwd: folder(), confine: 'workspace' });
    const { confinement } = await session.run(LEAVE(seconds));
    expect([sleepers(seconds).length, existsSync(confinement?.tmp ?? '')]).toEqual([1, true]);
    await session.close();
    await until(() => sleepers(seconds).length === 0);
    await until(() => !existsSync(confinement?.tmp ?? ''));
  });

  test('100 that end at once after a command that leaves a process, 4 at a time', async () => {
    const [seconds, cwd] = [mark(), folder()];
    const one = async () => {
      const session = new BashSession({ cwd, confine: 'workspace' });
      await session.run(LEAVE(seconds));
      await session.close();
    };
    for (let n = 0; n < 100; n += 4) await Promise.all(Array.from({ length: 4 }, one));
    await until(() => sleepers(seconds).length === 0);
  });

  test('one ends once its directory was removed, with the next world', async () => {
    const seconds = mark();
    const cwd = folder();
    const { confinement } = await bash(LEAVE(seconds), { cwd, confine: 'workspace' });
    expect([sleepers(seconds).length, existsSync(confinement?.tmp ?? '')]).toEqual([1, true]);
    rmSync(cwd, { recursive: true });
    await bash('true', { cwd: folder(), confine: 'workspace' });
    await until(() => sleepers(seconds).length === 0);
    await until(() => !existsSync(confinement?.tmp ?? ''));
  });

  test.each(['process.exit(0)', 'process.kill(process.pid, "SIGKILL")'])('one ends with its host: %s', async (end) => {
    const seconds = mark();
    const running = host(`
      const { confinement } = await bash(${JSON.stringify(LEAVE(seconds))}, { cwd: ${JSON.stringify(folder())}, confine: 'workspace' });
      process.stdout.write('tmp=' + confinement.tmp + '\\n', () => ${end});`);
    const [, tmp = ''] = await running.says(/^tmp=(.*)\n/m);
    await running.ended();
    await until(() => sleepers(seconds).length === 0);
    await until(() => !existsSync(tmp));
  });

  test('a task that outlives its host keeps its files, its loopback and its allowed hosts', async () => {
    const [cwd, directory] = [folder(), folder()];
    const script = `python3 -u -c 'import http.server as h; h.HTTPServer(("127.0.0.1", 46333), h.SimpleHTTPRequestHandler).serve_forever()' 2>/dev/null &
      until [ -e go ]; do sleep .05; done; echo kept >/tmp/file; cat /tmp/file >out; until curl -s http://127.0.0.1:46333/out >loop; do sleep .05; done; touch done; sleep 300`;
    const running = host(`
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(directory)} });
      const task = await registry.start(${JSON.stringify(script)}, { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' });
      process.stdout.write('pid=' + task.pid + '\\n', () => process.exit(0));`);
    const pid = Number((await running.says(/^pid=(\d+)\n/m))[1]);
    onTestFinished(() => void kill(pid, 'SIGKILL'));
    await running.ended();
    await bash('touch go', { cwd });
    await until(() => existsSync(join(cwd, 'done')));
    expect([readFileSync(join(cwd, 'out'), 'utf8'), readFileSync(join(cwd, 'loop'), 'utf8')]).toEqual([
      'kept\n',
      'kept\n',
    ]);
    expect(alive(pid)).toBe(true);
    kill(pid, 'SIGKILL');
    await until(() => !alive(pid));
  });

  test('a reopened registry joins the world of its running tasks', async () => {
    const [cwd, directory] = [folder(), folder()];
    const start = (command: string) => `
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(directory)} });
      const task = await registry.start(${JSON.stringify(command)}, { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' });`;
    const first = host(`${start('echo x >/tmp/joined; touch ready; sleep 300')}
      process.stdout.write('pid=' + task.pid + '\\n', () => process.exit(0));`);
    const pid = Number((await first.says(/^pid=(\d+)\n/m))[1]);
    onTestFinished(() => void kill(pid, 'SIGKILL'));
    await first.ended();
    await until(() => existsSync(join(cwd, 'ready')));
    const output = await hostResult<string>(`${start('cat /tmp/joined')}
      const { output } = await registry.wait(task.id);
      console.log(JSON.stringify(output));`);
    expect(output).toContain('x\n');
  });

  test('200 worlds leave nothing', async () => {
    const [before, after] = await hostResult<[number[], number[]]>(`
      import { readdirSync, readFileSync } from 'node:fs';
      import { BashSession } from 'agent-bash';
      const cwd = ${JSON.stringify(folder())};
      const mine = () => readdirSync('/proc').filter((name) => {
        try { return /agent-bash-[sl]/.test(readFileSync('/proc/' + name + '/comm', 'utf8')) && ancestors(name).includes(String(process.pid)); } catch { return false; }
      }).length;
      const ancestors = (pid) => { const all = []; while (pid > 1) { pid = readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/.*\\) . /s, '').split(' ')[0]; all.push(pid); } return all; };
      const files = () => readdirSync('/proc/self/fd').length;
      const state = () => [mine(), files(), readFileSync('/proc/self/mounts', 'utf8').split('\\n').length];
      const one = async () => { const s = new BashSession({ cwd, confine: 'workspace' }); await s.run('true'); await s.close(); };
      await one();
      // Helpers exit, and their descriptors are closed, a moment after their world has ended.
      const settled = async (times, most) => { for (let n = 0; n < times; n++) { if (mine() <= 3 && files() <= most) break; await new Promise((go) => setTimeout(go, 50)); } };
      await settled(100, Infinity);
      const before = state();
      for (let n = 0; n < 200; n += 8) await Promise.all(Array.from({ length: 8 }, one));
      await settled(200, before[1] + 2);
      console.log(JSON.stringify([before, state()]));
      process.exit();`);
    expect(after[0]).toBeLessThanOrEqual((before[0] ?? 0) + 1);
    expect(after[1]).toBeLessThanOrEqual((before[1] ?? 0) + 2);
    expect(after[2]).toBe(before[2]);
  });

  test('registries have one for all their tasks', async () => {
    const registry = new BackgroundRegistry();
    onTestFinished(() => registry.close());
    const cwd = folder();
    const one = await registry.start('echo x >/tmp/of-tasks', { cwd, confine: 'workspace' });
    await registry.wait(one.id);
    const two = await registry.start('cat /tmp/of-tasks', { cwd, confine: 'workspace' });
    expect((await registry.wait(two.id)).output).toContain('x\n');
  });
});
