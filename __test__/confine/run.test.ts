import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, type BashOptions, BashSession, bash, PtySession, warmShells, warmUp } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { alive, folder, host, kill, linuxTest, mark, sleepers, supervisorOf, until } from '../support/index.ts';

const run = (command: string, options: BashOptions = {}) =>
  bash(command, { confine: 'workspace', timeoutMs: 20_000, ...options });

describe.runIf(process.platform === 'linux')('a confined command', () => {
  test('changes files in its directory and nowhere else', async () => {
    const cwd = folder();
    const result = await run('echo hi >x; echo no >/etc/agent-bash-x; echo no >/usr/x', { cwd });
    expect(result.status).toBe('exited');
    expect(readFileSync(join(cwd, 'x'), 'utf8')).toBe('hi\n');
    expect(result.stderr).toMatch(/\/etc\/agent-bash-x: (Read-only file system|Permission denied)/);
    expect(existsSync('/etc/agent-bash-x')).toBe(false);
    expect(result.confinement).toMatchObject({ profile: 'workspace', missing: [] });
    expect(result.confinement?.held).toEqual(['files', 'network', 'processes', 'syscalls']);
  });

  test('has no note about an effect that the confinement prevents', async () => {
    const asks = (notes: string[]) => notes.filter((note) => note.startsWith('a person would be asked about this'));
    const cwd = folder();
    expect(asks((await run('echo no >/etc/agent-bash-x', { cwd })).notes)).toEqual([]);
    expect(asks((await run('git init -q; git clean -fdx', { cwd })).notes)).toHaveLength(1);
    const strict = { cwd, safety: { onAsk: 'deny' } } as const;
    expect((await run('echo no >/etc/agent-bash-x', strict)).exitCode).toBe(1);
    for (const command of ['git clean -fdx', 'rm -rf /']) {
      await expect(run(command, strict)).rejects.toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    }
  });

  test('reports denials', async () => {
    const cwd = folder();
    const result = await run('tee /etc/agent-bash-x </dev/null; mkdir /usr/agent-bash-d; mkdir .vscode', { cwd });
    expect(result.confinement?.denied).toEqual([
      { kind: 'write', target: '/etc/agent-bash-x', program: 'tee', count: 1, grant: { write: ['/etc'] } },
      { kind: 'write', target: '/usr/agent-bash-d', program: 'mkdir', count: 1, grant: { write: ['/usr'] } },
      { kind: 'write', target: join(cwd, '.vscode'), program: 'mkdir', count: 1, grant: null },
    ]);
    expect(result.confinement?.deniedTotal).toBe(3);
    expect((await run('true', { cwd })).confinement?.deniedTotal).toBe(0);
  });

  test('changes nothing with the profile read-only', async () => {
    const cwd = folder();
    const result = await run('echo hi >x', { cwd, confine: 'read-only' });
    expect(result.exitCode).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
    expect(result.confinement?.profile).toBe('read-only');
  });

  test('is not confined by default', async () => {
    expect((await bash('true')).confinement).toBe(null);
  });

  test('sees a /tmp of its own, which later commands of its world share', async () => {
    const cwd = folder();
    const first = await run('echo shared >/tmp/file; echo $TMPDIR; ls /tmp', { cwd });
    expect(first.stdout).toMatch(/^\/tmp\n(agent-bash-test-.*\n)?file\n$/);
    expect((await run('cat /tmp/file', { cwd })).stdout).toBe('shared\n');
    const { tmp } = first.confinement ?? {};
    expect(readFileSync(join(tmp ?? '', 'file'), 'utf8')).toBe('shared\n');
  });

  test('sees no process of the host, and cannot signal one', async () => {
    const cwd = folder();
    const result = await run(`ls -d /proc/[0-9]* | wc -l; kill -0 ${process.pid}`, { cwd });
    expect(Number(result.stdout)).toBeLessThan(10);
    expect(result.exitCode).toBe(1);
  });

  test('reaches no host, and has a loopback', async () => {
    const cwd = folder();
    const result = await run('(exec 3<>/dev/tcp/1.1.1.1/80) 2>/dev/null; echo $?; ls /sys/class/net 2>&1 | head -5', {
      cwd,
    });
    expect(result.stdout).toMatch(/^1\n/);
  });

  test('cannot read hidden paths', async () => {
    const cwd = folder();
    const secret = join(folder(), 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key'), 'secret');
    const result = await run(`cat ${secret}/key; ls ${secret}`, { cwd, confine: { hide: [secret] } });
    expect(result.stdout).toBe('');
    expect(result.exitCode).not.toBe(0);
  });

  test('has no privilege', async () => {
    const cwd = folder();
    const result = await run('grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status', { cwd });
    expect(result.stdout).toBe('CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n');
  });

  test("has the host's pid in its result", async () => {
    const cwd = folder();
    const seconds = mark();
    const running = run(`exec sleep ${seconds}`, { cwd });
    const [pid = 0] = await until(() => sleepers(seconds).length > 0 && sleepers(seconds));
    process.kill(pid, 'SIGTERM');
    const result = await running;
    expect(result).toMatchObject({ pid, status: 'signaled', signal: 'SIGTERM' });
  });

  test('starts in a directory that its confinement shows, or not at all', async () => {
    const cwd = folder();
    const hidden = join(cwd, 'hidden');
    mkdirSync(hidden);
    await expect(run('true', { cwd: hidden, confine: { hide: [hidden] } })).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_BASH_/),
    });
    await expect(run('true', { cwd: join(cwd, 'none') })).rejects.toMatchObject({ code: 'ERR_BASH_CWD_NOT_FOUND' });
  });

  test('runs in a warm shell of its world', async () => {
    const cwd = folder();
    expect(await warmUp({ cwd, confine: 'workspace' })).toBe(true);
    const { used } = warmShells();
    const result = await run('echo $BASH_EXECUTION_STRING; ls /proc/self/fd | sort -n | tr "\\n" " "; touch here', {
      cwd,
    });
    expect(warmShells().used).toBe(used + 1);
    const cold = await run('echo $BASH_EXECUTION_STRING; ls /proc/self/fd | sort -n | tr "\\n" " "; touch here', {
      cwd,
      args: ['x'],
    });
    expect(result.stdout).toBe(cold.stdout);
    expect(existsSync(join(cwd, 'here'))).toBe(true);
  });

  test('may be too long for an argument', async () => {
    const cwd = folder();
    const result = await run(`echo ${'x'.repeat(200_000)} | wc -c`, { cwd });
    expect(result.stdout).toBe('200001\n');
  });

  test('is ended at its limit with all that it started', async () => {
    const cwd = folder();
    const seconds = mark();
    const result = await run(`setsid sleep ${seconds} & sleep ${seconds}`, { cwd, timeoutMs: 500, graceMs: 200 });
    expect(result.status).toBe('timed-out');
    expect(sleepers(seconds)).toEqual([]);
  });

  test('is ended by an abort', async () => {
    const cwd = folder();
    const seconds = mark();
    const abort = new AbortController();
    const running = run(`(setsid sleep ${seconds} &) ; sleep ${seconds}`, { cwd, signal: abort.signal, graceMs: 200 });
    await until(() => sleepers(seconds).length === 2);
    abort.abort();
    expect((await running).status).toBe('aborted');
    expect(sleepers(seconds)).toEqual([]);
  });

  test('obeys limits on resources', async () => {
    const cwd = folder();
    const result = await run('while :; do :; done', { cwd, limits: { cpuSeconds: 0.3 } });
    expect(result.notes.join()).toMatch(/CPU/i);
    expect(result.status).not.toBe('exited');
  });

  test('leaves a daemon that the next command of the world can end', async () => {
    const cwd = folder();
    const seconds = mark();
    const left = await run(`setsid sleep ${seconds} >/dev/null 2>&1 </dev/null & disown`, { cwd });
    expect(left.status).toBe('exited');
    const [pid = 0] = await until(() => sleepers(seconds).length > 0 && sleepers(seconds));
    expect(left.survivors?.map((one) => one.pid) ?? [pid]).toContain(pid);
    await run(`pkill -f ${seconds}`, { cwd });
    await until(() => sleepers(seconds).length === 0);
  });
});

describe.runIf(process.platform === 'linux')('a confined', () => {
  test('session keeps its state, and leaves no trace of how', async () => {
    const cwd = folder();
    await using session = new BashSession({ cwd, confine: 'workspace' });
    await session.run('x=1; f() { echo "f $x"; }; mkdir -p d; cd d; alias ll="ls -l"; export Y=2');
    const result = await session.run('f; pwd; alias ll; echo $Y; y=3');
    expect(result.stdout).toBe(`f 1\n${cwd}/d\nalias ll='ls -l'\n2\n`);
    expect((await session.run('echo $y; exit 4')).exitCode).toBe(4);
    expect((await session.run('echo $y')).stdout).toBe('3\n');
  });

  test('session that traps its own exit keeps its state', async () => {
    const cwd = folder();
    await using session = new BashSession({ cwd, confine: 'workspace' });
    expect((await session.run('trap "echo bye" EXIT; z=5')).stdout).toBe('bye\n');
    expect((await session.run('echo $z')).stdout).toContain('5');
  });

  test('terminal shows its input', async () => {
    const cwd = folder();
    await using terminal = new PtySession({ cwd, confine: 'workspace' });
    await terminal.start('cat; test -t 0 && stty size; touch /etc/agent-bash-x');
    await terminal.write('hello\n');
    await until(() => terminal.screen().lines.join('\n').includes('hello\nhello'));
    await terminal.write('\x04');
    await terminal.result();
    expect(terminal.screen().lines.join('\n')).toMatch(/\n\d+ \d+\n.*(Read-only|denied)/);
  });

  linuxTest.each(['off', 'workspace'] as const)('terminal has its name inside: %s', async (confine) => {
    await using terminal = new PtySession({ cwd: folder(), confine });
    const script = [
      '[ "$(readlink /proc/self/fd/0)" = "$(tty)" ] && echo "same $(tty)"',
      'python3 -c "import os; print(\'python\', os.ttyname(0))"',
      'echo "written $(echo x >"$(tty)" && echo y >/dev/tty && exec 5<>/dev/tty && echo z >&5 && echo all)"',
      'ps -t "$(tty | sed s,/dev/,,)" -o comm= | grep -c ps',
      'script -qec "tty; stty size" /dev/null </dev/null',
    ];
    await terminal.start(script.join('\n'));
    expect((await terminal.result()).exitCode).toBe(0);
    const lines = terminal.screen().lines.map((line) => line.trimEnd());
    const name = lines[0]?.replace('same ', '') ?? '';
    expect(name).toMatch(/^\/dev\/pts\/\d+$/);
    const inner = expect.not.stringContaining(name);
    expect(lines.filter(Boolean)).toEqual([
      ...[`same ${name}`, `python ${name}`, 'x', 'y', 'z', 'written all', '1'],
      ...[inner, '0 0'],
    ]);
  });

  linuxTest('task outlives its host, in its world', async () => {
    const cwd = folder();
    const directory = folder();
    const seconds = mark();
    const started = host(`
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(directory)} });
      const task = await registry.start(${JSON.stringify(`sleep ${seconds}; echo no`)}, { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' });
      console.log('task', task.id, task.pid);
      setInterval(() => {}, 1000);
    `);
    const [, id = '', pid = ''] = await started.says(/task (\S+) (\d+)/);
    await until(() => sleepers(seconds).length === 1);
    kill(started.pid, 'SIGKILL');
    await started.ended();
    expect(alive(Number(pid))).toBe(true);
    await using registry = new BackgroundRegistry({ dir: directory });
    await registry.kill(id);
    await until(() => sleepers(seconds).length === 0 && !alive(Number(pid)));
  });
});

describe.runIf(process.platform === 'linux')('worlds', () => {
  linuxTest('end with a host that is killed', async () => {
    const cwd = folder();
    const seconds = mark();
    const other = host(`
      const running = bash(${JSON.stringify(`setsid sleep ${seconds} & sleep ${seconds}`)}, { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' });
      const { confinement } = await bash('true', { cwd: ${JSON.stringify(cwd)}, confine: 'workspace' });
      console.log('tmp', confinement.tmp, '.');
      await running;
    `);
    const [, tmp = ''] = await other.says(/tmp (\S+) \./);
    await until(() => sleepers(seconds).length === 2);
    const supervisor = supervisorOf(other.pid)?.pid ?? 0;
    kill(other.pid, 'SIGKILL');
    await until(() => sleepers(seconds).length === 0 && !alive(supervisor));
    expect(existsSync(tmp)).toBe(false);
  });
});
