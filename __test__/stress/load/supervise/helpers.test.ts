import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { bash } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  alive,
  folder,
  host,
  kill,
  linuxTest,
  mark,
  type Process,
  processOf,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  testNeeding,
  until,
} from '../../../support/index.ts';

function supervisor(): Process {
  const found = supervisorOf();
  if (!found) throw new Error(`no supervisor below ${process.pid}`);
  return found;
}

/** The shim that runs the command whose shell or child sleeps: the child of the supervisor above it. */
function shimAbove(pid: number): number {
  const top = supervisor().pid;
  let one = processOf(pid);
  while (one && one.ppid !== top) one = processOf(one.ppid);
  if (!one) throw new Error(`no shim above ${pid}`);
  return one.pid;
}

async function worksAgain(): Promise<void> {
  expect(await settles(bash('echo again; exit 2'))).toMatchObject({ status: 'exited', exitCode: 2, stdout: 'again\n' });
}

/** A command with a child, a daemon and one that cleared its environment, that all sleep; running. */
async function tree() {
  const seconds = mark();
  const promise = bash(
    `echo before; setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &); sleep ${seconds}; echo after`,
    {
      timeoutMs: 60_000,
    },
  );
  await until(() => sleepers(seconds).length === 3);
  return { seconds, promise };
}

/** Whether the kernel shares the processors among sessions, and this host may put one ahead of others. */
function canPutSessionsAhead(): boolean {
  if (!existsSync('/proc/self/autogroup') || readFileSync('/proc/self/autogroup', 'utf8') === '') return false;
  const [, capabilities = '0'] = /^CapEff:\t(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${capabilities}`) >> 23n) & 1n) === 1n; // CAP_SYS_NICE
}

testNeeding(
  'autogroups and CAP_SYS_NICE',
  canPutSessionsAhead(),
  'linux',
)('the helpers are ahead of commands, which have the priority of the host', async () => {
  const { stdout } = await bash('nice; cat /proc/$PPID/autogroup /proc/$$/autogroup');
  const [nice, helpers, command] = stdout.split('\n');
  expect(nice).toBe(String(getPriority()));
  expect(helpers).toMatch(/ nice -20$/);
  expect(command).toMatch(/ nice 0$/);
});

describe('Linux: the processes are those of the design', () => {
  linuxTest('one supervisor a host, one shim a command between it and the shell', async () => {
    const seconds = mark();
    const promises = [1, 2, 3].map(() => bash(`sleep ${seconds}; :`));
    await until(() => sleepers(seconds).length === 3);
    const shims = sleepers(seconds).map(shimAbove);
    expect(new Set(shims).size).toBe(3);
    const shells = sleepers(seconds).map((pid) => processOf(pid)?.ppid ?? 0);
    expect(shells.map((pid) => processOf(pid)?.ppid)).toEqual(shims);
    for (const pid of sleepers(seconds)) kill(pid, 'SIGKILL');
    expect((await Promise.all(promises)).map(({ pid }) => pid).sort()).toEqual(shells.sort());
  });

  linuxTest('no more than a few wait for work', async () => {
    await Promise.all(Array.from({ length: 50 }, () => bash('true')));
    await until(() => shimsOf(supervisor().pid).length <= 20);
  });

  linuxTest('a host that ends by itself takes them with it', async () => {
    const running = host("await bash('true'); console.log('ran'); process.stdin.resume(); setTimeout(() => {}, 300);");
    await running.says(/ran/);
    const found = await until(() => supervisorOf(running.pid));
    const all = [found.pid, ...shimsOf(found.pid).map(({ pid }) => pid)];
    expect((await running.ended()).code).toBe(0);
    await until(() => !all.some(alive));
  });
});

describe('Linux: a helper that is killed under a command', () => {
  const helpers: [string, (sleeper: number) => number][] = [
    ['the supervisor', () => supervisor().pid],
    ['the shim', shimAbove],
  ];

  linuxTest.each(helpers)(
    '%s, SIGKILL: signaled, SIGKILL, 137, with a note; nothing stays, the next call works',
    async (_, find) => {
      const { seconds, promise } = await tree();
      const pid = find(sleepers(seconds)[0] ?? 0);
      kill(pid, 'SIGKILL');
      const result = await settles(promise);
      expect(result).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137, stdout: 'before\n' });
      expect(result.notes.length).toBeGreaterThanOrEqual(1);
      await worksAgain();
      await until(() => sleepers(seconds).length === 0);
      await until(() => !alive(pid));
    },
  );

  linuxTest.each(helpers)('%s, SIGKILL, while the tree ignores what it can', async (_, find) => {
    const seconds = mark();
    const promise = bash(`trap '' TERM HUP INT QUIT; setsid sleep ${seconds} & while :; do sleep ${seconds}; done`);
    await until(() => sleepers(seconds).length === 2);
    kill(find(sleepers(seconds)[0] ?? 0), 'SIGKILL');
    expect(await settles(promise)).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137 });
    await worksAgain();
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest.each(helpers)('%s, SIGKILL, together with an abort', async (_, find) => {
    const seconds = mark();
    const controller = new AbortController();
    const promise = bash(`trap '' TERM; setsid sleep ${seconds} & while :; do sleep ${seconds}; done`, {
      signal: controller.signal,
      graceMs: 1_000,
    });
    await until(() => sleepers(seconds).length === 2);
    const pid = find(sleepers(seconds)[0] ?? 0);
    controller.abort();
    kill(pid, 'SIGKILL');
    const result = await settles(promise);
    expect(['aborted', 'signaled']).toContain(result.status);
    await worksAgain();
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest.each(helpers)('%s, SIGKILL, while output flows', async (_, find) => {
    const seconds = mark();
    const promise = bash(`sleep ${seconds} & yes`, { spill: false, timeoutMs: 60_000 });
    await until(() => sleepers(seconds).length === 1);
    kill(find(sleepers(seconds)[0] ?? 0), 'SIGKILL');
    expect(await settles(promise)).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137 });
    await worksAgain();
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest.each(helpers)('%s, SIGKILL, while survivors are drained', async (_, find) => {
    const seconds = mark();
    const promise = bash(`(sleep ${seconds} & while :; do echo x; sleep .05; done) & echo head`);
    await until(() => sleepers(seconds).length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    kill(find(sleepers(seconds)[0] ?? 0), 'SIGKILL');
    const { stdout, survivors } = await settles(promise);
    // Either of the two may write first.
    expect(stdout).toMatch(/^head$/m);
    await worksAgain();
    // With its shim killed there are none; else they go on, here for ever.
    for (const { pid } of survivors) kill(pid, 'SIGKILL');
  });

  linuxTest.each(helpers)('%s, SIGSTOP: the limit still ends it, the next call works', async (_, find) => {
    const seconds = mark();
    const promise = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 1_500, graceMs: 300 });
    await until(() => sleepers(seconds).length === 2);
    const pid = find(sleepers(seconds)[0] ?? 0);
    kill(pid, 'SIGSTOP');
    const result = await settles(promise);
    expect(['timed-out', 'signaled']).toContain(result.status);
    await worksAgain();
    kill(pid, 'SIGCONT');
    await until(() => sleepers(seconds).length === 0);
  });

  linuxTest.each(helpers)('%s, SIGSTOP, then SIGCONT: as if nothing had been', async (_, find) => {
    const seconds = mark();
    const cwd = folder();
    const promise = bash(`sleep ${seconds}; until [ -e go ]; do sleep .02; done; echo end`, { cwd, timeoutMs: 60_000 });
    await until(() => sleepers(seconds).length === 1);
    const sleeper = sleepers(seconds)[0] ?? 0;
    const pid = find(sleeper);
    kill(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 200));
    kill(pid, 'SIGCONT');
    kill(sleeper, 'SIGTERM');
    writeFileSync(`${cwd}/go`, '');
    expect(await settles(promise)).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'end\n' });
  });

  const stopAll = 'read -r _ _ _ up _ </proc/$PPID/stat; kill -STOP $up $(</proc/$up/task/$up/children)';

  linuxTest('all of them at once, SIGKILL: a child without environment, session and parent goes, too', async () => {
    const { seconds, promise } = await tree();
    const { pid } = supervisor();
    const all = [pid, ...shimsOf(pid).map((shim) => shim.pid)];
    // None of them acts on the death of another.
    for (const one of all) kill(one, 'SIGSTOP');
    for (const one of all) kill(one, 'SIGKILL');
    expect(await settles(promise)).toMatchObject({ status: 'signaled', signal: 'SIGKILL', exitCode: 137 });
    await until(() => sleepers(seconds).length === 0);
    await worksAgain();
  });

  linuxTest('all of them, SIGSTOP: as if nothing had been', async () => {
    expect(await settles(bash(`${stopAll}; exit 3`, { timeoutMs: 60_000 }))).toMatchObject({ exitCode: 3, notes: [] });
    await worksAgain();
  });

  linuxTest("all of them, SIGSTOP, and the host's end in that moment: nothing is left", async () => {
    for (let n = 0; n < 3; n++) {
      const seconds = mark();
      const command = `${stopAll}; (env -i setsid sleep ${seconds} &); sleep ${seconds} & kill -9 HOST`;
      const one = host(`await bash(${JSON.stringify(command)}.replace('HOST', process.pid));`);
      expect((await one.ended()).signal).toBe('SIGKILL');
      await until(() => sleepers(seconds).length === 0, 'nothing is left');
    }
  });

  linuxTest("the supervisor, SIGSTOP, after the host's end: it is continued, and exits", async () => {
    const command = 'above=$(ps -o ppid= -p $PPID); trap "kill -STOP $above; exit" TERM; echo up; sleep 60 & wait';
    const one = host(
      `await bash(${JSON.stringify(command)}, { onOutput: () => console.log('up'), timeoutMs: 60_000 });`,
    );
    await one.says(/up/);
    const { pid } = await until(() => supervisorOf(one.pid));
    onTestFinished(() => void (alive(pid) && kill(pid, 'SIGKILL')));
    kill(one.pid, 'SIGKILL');
    await until(() => !alive(pid), 'the supervisor has exited');
  });

  linuxTest(
    'the supervisor, SIGTERM, SIGINT, SIGHUP: commands go on or end with a note, and the next call works',
    async () => {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGPIPE'] as const) {
        // The command before may have run below one that is gone already.
        const { pid } = await until(async () => (await bash('true')) && supervisorOf());
        const promise = bash('sleep .3; echo on');
        kill(pid, signal);
        const result = await settles(promise);
        expect([0, 137]).toContain(result.exitCode);
        await worksAgain();
      }
    },
  );
});

describe('Linux: a helper that is killed while idle', () => {
  linuxTest('the supervisor', async () => {
    for (let round = 0; round < 5; round++) {
      // A command may run below one that is gone already, as long as that has not been noticed.
      const { pid } = await until(async () => (await bash('true')) && supervisorOf());
      kill(pid, 'SIGKILL');
      if (round % 2) await until(() => !alive(pid));
      await worksAgain();
    }
  });

  linuxTest('every shim that waits', async () => {
    for (let round = 0; round < 5; round++) {
      await bash('true');
      const shims = shimsOf(supervisor().pid).map(({ pid }) => pid);
      for (const pid of shims) kill(pid, 'SIGKILL');
      // A shim that takes a command in the moment of its death ends it, and the result says so.
      await until(() => !shims.some(alive));
      await worksAgain();
      await worksAgain();
    }
  });

  linuxTest('all of them', async () => {
    await bash('true');
    const { pid } = supervisor();
    for (const one of [...shimsOf(pid).map((shim) => shim.pid), pid]) kill(one, 'SIGKILL');
    await worksAgain();
  });

  linuxTest('again and again, under load: every promise settles, and nothing stays behind', async () => {
    const seconds = mark();
    const all = Array.from({ length: 60 }, (_, n) =>
      bash(`setsid sleep ${seconds} & sleep .${n % 5}; exit 9`, { timeoutMs: 20_000 }),
    );
    for (let round = 0; round < 4; round++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const found = supervisorOf();
      if (found) kill(found.pid, 'SIGKILL');
    }
    const ends = await settles(Promise.allSettled(all), 60_000);
    for (const end of ends) {
      expect(end.status).toBe('fulfilled');
      if (end.status === 'fulfilled') expect([9, 137]).toContain(end.value.exitCode);
    }
    await worksAgain();
  });
});

test('the name of the supervisor is recognizable in a list of processes', async () => {
  await bash('true');
  if (process.platform === 'linux') {
    const { name, argv } = supervisor();
    expect(`${name} ${argv.join(' ')}`).toContain('agent-bash-supe');
  }
});
