import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { blocks, page } from '../../../docs/examples.ts';
import {
  alive,
  folder,
  type Host,
  type HostOptions,
  host,
  isRoot,
  kill,
  mark,
  packageRoot,
  processOf,
  sleepers,
  supervisorOf,
  testNeeding,
  until,
} from '../../../support/index.ts';

/** Mounts version 2 where systems mount it, for the processes of one mount namespace. */
const MOUNT = 'mount -t cgroup2 none /sys/fs/cgroup';
const ROOT = '/sys/fs/cgroup';

function nameOfGroup(): string {
  return `agent-bash-test-${randomInt(1e9)}`;
}

function canDivide(): boolean {
  const script = `${MOUNT} && mkdir ${ROOT}/$0 && [ -e ${ROOT}/$0/cgroup.kill ]; code=$?; rmdir ${ROOT}/$0; exit $code`;
  return spawnSync('unshare', ['-m', 'bash', '-c', script, nameOfGroup()]).status === 0;
}

/** A host here is the only process of a cgroup that the test has made. */
const cgroupTest = isRoot ? testNeeding('cgroups of version 2', canDivide(), 'linux') : testNeeding('root', true).skip;

/** A cgroup that is removed after the test, with all its processes. */
class Group {
  readonly path = `${ROOT}/${nameOfGroup()}`;
  /** Shell text to run before the host enters the cgroup. */
  first = 'true';

  constructor() {
    onTestFinished(() => {
      const wait = `for i in {1..500}; do grep -q 'populated 0' ${this.path}/cgroup.events && break; sleep .02; done`;
      const script = `${MOUNT}; echo 1 > ${this.path}/cgroup.kill; ${wait}; find ${this.path} -depth -type d -exec rmdir {} +`;
      execFileSync('unshare', ['-m', 'bash', '-c', script]);
    });
  }

  /** Shell text that moves the process that follows into the cgroup. */
  get before(): string {
    const enter = `mkdir -p ${this.path}/host && ${this.first} && echo $$ > ${this.path}/host/cgroup.procs`;
    return `set -- unshare -m bash -c '${MOUNT} && ${enter} && exec "$@"' bash "$@"`;
  }

  /** A host in the cgroup. */
  host(source: string, options: HostOptions = {}): Host {
    return host(`const say = (value) => console.log(JSON.stringify(value));\n${source}`, {
      ...options,
      before: this.before,
    });
  }

  /** The cgroups of supervisors, as a process in its mount namespace sees them. */
  supervisors({ pid }: Pick<Host, 'pid'>): string[] {
    const entries = readdirSync(join(`/proc/${pid}/root`, this.path, 'host'), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }
}

/** The cgroup of a process below the mount point. */
function groupOf(pid: number): string {
  return /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? '';
}

async function json<T>(running: Host, line = 0): Promise<T> {
  const lines = await until(() => {
    const complete = running.stdout().split('\n').slice(0, -1);
    if (complete.length <= line && running.process.exitCode !== null) throw new Error(running.stderr());
    return complete.length > line && complete;
  });
  return JSON.parse(lines[line] ?? '') as T;
}

/** Kills the supervisor of a host, and the shim above a process, before either can act on the death of the other. */
async function killHelpers(running: Host, below: number): Promise<void> {
  const supervisor = await until(() => supervisorOf(running.pid));
  const above = (pid: number): number => {
    const parent = processOf(pid)?.ppid ?? 0;
    return parent === supervisor.pid ? pid : above(parent);
  };
  const shim = above(below);
  for (const pid of [supervisor.pid, shim]) process.kill(pid, 'SIGSTOP');
  for (const pid of [supervisor.pid, shim]) kill(pid, 'SIGKILL');
  await until(() => !alive(shim) && !alive(supervisor.pid));
}

/** Leaves its environment, its session, its pipes and its parent. */
const daemon = (seconds: string) => `(env -i setsid sleep ${seconds} >/dev/null 2>&1 &)`;

describe('where cgroups of version 2 may be divided', () => {
  cgroupTest('each command is in a cgroup of its own, its daemons, too, and its helpers are not', async () => {
    const group = new Group();
    const running = group.host(`
      const own = 'grep ^0 /proc/self/cgroup; grep ^0 /proc/$PPID/cgroup';
      const daemon = ' ; env -i setsid bash -c "sleep .2; grep ^0 /proc/self/cgroup" & wait';
      say((await bash(own + daemon)).stdout.trim().split('\\n'));
      const both = await Promise.all([1, 2].map(() => bash('sleep .3; ' + own)));
      say(both.map(({ stdout }) => stdout.split('\\n')[0]));
      for (let n = 0; n < 4; n++) {
        await bash('true');
        await new Promise((done) => setTimeout(done, 100));
      }
      say((await bash(own)).stdout.split('\\n')[0]);
      const { BashSession } = await import('agent-bash');
      const session = new BashSession();
      say((await session.run(own)).stdout.split('\\n')[0]);
      await session.close();
    `);
    const name = /^0::\/agent-bash-test-\d+\/host\/agent-bash\.\d+\.\d+\.\d+\/\d+\.\d+$/;
    const [command, shim, daemons] = await json<string[]>(running);
    expect(command).toMatch(name);
    expect(daemons).toBe(command);
    expect(shim).toMatch(/^0::\/agent-bash-test-\d+\/host$/);
    const [one, other] = await json<string[]>(running, 1);
    expect(one).toMatch(name);
    expect(other).toMatch(name);
    expect(other).not.toBe(one);
    expect(await json<string>(running, 2), 'a warm shell').toMatch(name);
    expect(await json<string>(running, 3), 'a session').toMatch(name);
    expect(await running.ended()).toMatchObject({ code: 0 });
  });

  cgroupTest('a command in a terminal is in a cgroup of its own', async () => {
    const group = new Group();
    const running = group.host(`
      const { PtySession } = await import('agent-bash');
      const terminal = new PtySession({ cols: 200 });
      await terminal.start('grep ^0 /proc/self/cgroup');
      say((await terminal.result()).stdout);
    `);
    expect(await json<string>(running)).toMatch(/host\/agent-bash\.[\d.]+\/[\d.]+/);
  });

  cgroupTest('after a tree was killed, the same shim runs the next command', async () => {
    const group = new Group();
    const running = group.host(`
      const ended = await bash("trap '' TERM; ${daemon('97')}; while :; do sleep 1; done", { timeoutMs: 1_500, graceMs: 100 });
      const results = [];
      for (let n = 0; n < 6; n++) results.push(await bash('echo $PPID; exit 3'));
      say([ended.status, results.map(({ status, exitCode }) => [status, exitCode].join())]);
    `);
    expect(await json(running)).toEqual(['timed-out', Array(6).fill('exited,3')]);
  });

  cgroupTest('a host whose cgroup was killed before it entered it runs commands', async () => {
    // Some kernels kill what starts below such a cgroup.
    const group = new Group();
    group.first = `echo 1 > ${group.path}/host/cgroup.kill`;
    const running = group.host("say((await bash('echo hi; exit 3')).exitCode); await bash('sleep 1 & true');");
    expect(await json(running)).toBe(3);
    expect(await running.ended()).toMatchObject({ code: 0 });
  });

  cgroupTest('the cgroup counts CPU time that no process is told', async () => {
    const group = new Group();
    const source =
      'for (let used = 0; used < 4e5; ) { const { user, system } = process.cpuUsage(); used = user + system; }';
    const running = group.host(`
      // The kernel reports the usage of a child to no parent that ignores SIGCHLD.
      const command = 'env --ignore-signal=CHLD bash -c \\'(node -e "${source}") & wait\\'';
      const { usage, status } = await bash(command);
      say([usage.userMs + usage.systemMs, status]);
      const limited = await bash(command, { limits: { cpuSeconds: 0.1 } });
      say([limited.status, limited.signal, limited.notes]);
    `);
    const [used, status] = await json<[number, string]>(running);
    expect(status).toBe('exited');
    expect(used).toBeGreaterThan(200);
    const over = expect.stringMatching(/^limits\.cpuSeconds: .* over the limit of 0\.1 s; they were ended$/);
    expect(await json(running, 1)).toEqual(['signaled', 'SIGTERM', [over]]);
  });

  cgroupTest('a host that ends leaves no cgroup, not even those that its commands have made', async () => {
    const group = new Group();
    const running = group.host(`
      await Promise.all([1, 2, 3].map(() => bash('own=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup); mkdir -p $own/a/b')));
      say('ran');
      setInterval(() => {}, 1000);
    `);
    await json(running);
    const watcher = group.host("say('here'); setInterval(() => {}, 1000);");
    await json(watcher);
    expect(group.supervisors(watcher)).toHaveLength(1);
    kill(running.pid, 'SIGKILL');
    await until(() => group.supervisors(watcher).length === 0);
  });
});

describe('supervisor and shim are killed together', () => {
  cgroupTest('the addon ends a daemon that has left everything but its cgroup', async () => {
    const group = new Group();
    const seconds = mark();
    const running = group.host(`
      const { status, signal } = await bash('${daemon(seconds)}; sleep ${seconds}');
      say([status, signal]);
      setInterval(() => {}, 1000);
    `);
    const pids = await until(() => sleepers(seconds).length === 2 && sleepers(seconds));
    await killHelpers(running, pids[0] ?? 0);
    expect(await json(running)).toEqual(['signaled', 'SIGKILL']);
    await until(() => sleepers(seconds).length === 0);
    await until(() => group.supervisors(running).length === 0);
  });

  cgroupTest('with AGENT_BASH_CGROUP=0 it stays', async () => {
    const group = new Group();
    const seconds = mark();
    const source = `say((await bash('${daemon(seconds)}; sleep ${seconds}')).status); setInterval(() => {}, 1000);`;
    const running = group.host(source, { env: { AGENT_BASH_CGROUP: '0' } });
    const pids = await until(() => sleepers(seconds).length === 2 && sleepers(seconds));
    expect(groupOf(pids[0] ?? 0)).toMatch(/host$/);
    await killHelpers(running, pids[0] ?? 0);
    expect(await json(running)).toBe('signaled');
    expect(sleepers(seconds)).toHaveLength(1);
  });

  cgroupTest('the daemon of a task is ended, too', async () => {
    const group = new Group();
    const seconds = mark();
    const running = group.host(`
      const { BackgroundRegistry } = await import('agent-bash');
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(folder())} });
      const { id } = await registry.start('${daemon(seconds)}; sleep ${seconds}');
      say((await registry.wait(id)).task.state);
      setInterval(() => {}, 1000);
    `);
    const pids = await until(() => sleepers(seconds).length === 2 && sleepers(seconds));
    await killHelpers(running, pids[0] ?? 0);
    expect(await json(running)).toBe('lost');
    await until(() => sleepers(seconds).length === 0);
  });

  cgroupTest('with their host: the next host ends what they have left, and removes the cgroup', async () => {
    const group = new Group();
    const seconds = mark();
    const running = group.host(`await bash('${daemon(seconds)}; sleep ${seconds}')`);
    const pids = await until(() => sleepers(seconds).length === 2 && sleepers(seconds));
    const shim = processOf(processOf(pids[0] ?? 0)?.ppid ?? 0)?.ppid;
    expect(shim).toBeDefined();
    process.kill(running.pid, 'SIGSTOP');
    await killHelpers(running, pids[0] ?? 0);
    kill(running.pid, 'SIGKILL');
    await until(() => !alive(running.pid));
    expect(sleepers(seconds).length).toBeGreaterThan(0);
    const next = group.host("await bash('true'); say('ran'); setInterval(() => {}, 1000);");
    await json(next);
    await until(() => sleepers(seconds).length === 0);
    await until(() => group.supervisors(next).length === 1);
  });

  cgroupTest('a task that outlives its host keeps its cgroup when the next host starts', async () => {
    const group = new Group();
    const seconds = mark();
    const dir = JSON.stringify(folder());
    const open = `const { BackgroundRegistry } = await import('agent-bash'); const registry = new BackgroundRegistry({ dir: ${dir} });`;
    const running = group.host(`${open} say(await registry.start('${daemon(seconds)}; sleep ${seconds}'));`);
    const { id } = await json<{ id: string }>(running);
    await until(() => sleepers(seconds).length === 2);
    kill(running.pid, 'SIGKILL');
    await until(() => !alive(running.pid));
    const next = group.host(`
      ${open}
      await bash('true');
      say(registry.list()[0].state);
      say((await registry.kill('${id}')).task.state);
      setInterval(() => {}, 1000);
    `);
    expect(await json(next)).toBe('running');
    expect(await json(next, 1)).toBe('killed');
    await until(() => sleepers(seconds).length === 0);
  });
});

cgroupTest('the recipe of docs/limits.md puts the host into a cgroup of its own below its unit', async () => {
  const group = new Group();
  const recipe = blocks(await page('limits.md')).find(({ kind }) => kind === 'sh')?.text ?? '';
  const last = 'exec node server.js\n';
  expect(recipe.endsWith(last)).toBe(true);
  const inUnit = `${MOUNT} && mkdir ${group.path} && echo $$ > ${group.path}/cgroup.procs && bash -s`;
  const shows = 'cat /proc/self/cgroup; cat "$unit/cgroup.controllers" "$unit/cgroup.subtree_control"\n';
  const { stdout, stderr } = spawnSync('unshare', ['-m', 'bash', '-c', inUnit], {
    input: recipe.replace(last, shows),
    encoding: 'utf8',
  });
  expect(stdout).toMatch(new RegExp(`^0::${group.path.replace(ROOT, '')}/host$`, 'm'));
  // The kernel refuses only controllers that it does not have.
  const [offered = '', passed = ''] = stdout.trimEnd().split('\n').slice(-2);
  if (/memory/.test(offered) && /pids/.test(offered)) expect(passed).toMatch(/memory pids/);
  else expect(stderr).toMatch(/write error/);
});

describe('doctor', () => {
  const doctor = (before: string, env: NodeJS.ProcessEnv = {}) => {
    const argv = [process.execPath, join(packageRoot, 'dist/cli.mjs'), 'doctor', '--json'];
    const { stdout } = spawnSync('bash', ['-c', `${before}\nexec "$@"`, 'bash', ...argv], {
      env: { ...process.env, NODE_OPTIONS: '', ...env },
      encoding: 'utf8',
    });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; found: string }[] };
    return checks.find(({ name }) => name === 'cgroup');
  };

  cgroupTest('says that commands have cgroups, and which controllers are missing for what reason', () => {
    const group = new Group();
    const check = doctor(group.before);
    expect(check?.found).toMatch(/^version 2, one for each command/);
    const bound = readFileSync('/proc/self/cgroup', 'utf8');
    for (const controller of ['memory', 'pids']) {
      const isBound = new RegExp(`^\\d+:(.*,)?${controller}(,.*)?:`, 'm').test(bound);
      const reason = isBound ? 'is bound to version 1' : '(is not enabled below this cgroup|is not there)';
      expect(check?.found).toMatch(new RegExp(`${controller} ${reason}`));
    }
    expect(check?.state).toBe('missing');
  });

  cgroupTest('says why they have none', () => {
    const switched = { AGENT_BASH_CGROUP: '0' };
    expect(doctor(new Group().before, switched)).toMatchObject({
      state: 'missing',
      found: expect.stringContaining('=0'),
    });
    if (existsSync('/proc/1/cgroup') && groupOf(process.pid) === '/') {
      const root = `set -- unshare -m bash -c '${MOUNT} && exec "$@"' bash "$@"`;
      expect(doctor(root)).toMatchObject({ state: 'missing', found: expect.stringContaining('root cgroup') });
    }
    const readOnly = `set -- unshare -m bash -c 'mount -o remount,ro,bind /sys/fs/cgroup && exec "$@"' bash "$@"`;
    const group = new Group();
    expect(doctor(`${readOnly}\n${group.before}`)).toMatchObject({ found: expect.stringMatching(/not writable/) });
  });
});
