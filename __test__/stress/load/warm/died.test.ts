import { bash, warmShells, warmUp } from 'agent-bash';
import { describe, expect } from 'vitest';
import {
  alive,
  HANG,
  hasProgram,
  host,
  kill,
  linuxTest,
  mark,
  processOf,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';
import { gone, runs, runsWarm, waitingShells, warmed } from '../../../warm/support.ts';

/** The output of a command that must not depend on the fate of an earlier shell. */
const told = { status: 'exited', exitCode: 3, stdout: 'out\n', stderr: 'err\n', signal: null, notes: [] };
/** Until it is dead, reaped or not: a signal that was sent takes its time on a machine under load. */
const dead = (pid: number) => until(() => !alive(pid), `the end of ${pid}`);

const command = 'echo out; echo err >&2; exit 3';

describe('a shell that died while it waited costs a cold start, no error', () => {
  linuxTest.each(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGHUP', 'SIGPIPE'] as const)('Linux: %s', async (signal) => {
    const shell = await warmed();
    kill(shell.pid, signal);
    await dead(shell.pid);
    expect(await bash(command)).toMatchObject(told);
    expect(await bash(command)).toMatchObject(told);
    await gone([shell.pid]);
  });

  linuxTest('Linux: SIGKILL, and its end was noticed before the command', async () => {
    // No other test has shells of this kind, of which one may be starting.
    const options = { env: { KIND: 'noticed' } };
    const shell = await warmed(options);
    kill(shell.pid, 'SIGKILL');
    await until(() => processOf(shell.pid) === undefined, 'the shell is reaped');
    const { warm, ...result } = await runs(command, options);
    expect(result).toMatchObject(told);
    expect(warm).toBe(false);
    expect(await runsWarm(command, options)).toMatchObject(told);
  });

  linuxTest('Linux: `warmUp` has another one wait', async () => {
    const shell = await warmed();
    kill(shell.pid, 'SIGKILL');
    await until(() => processOf(shell.pid) === undefined, 'the shell is reaped');
    // Its shim reports the death a moment after it has reaped the shell. Another shell may already be starting for the
    // next command.
    await until(async () => (await warmUp()) && waitingShells().length > 0, 'another shell');
  });

  linuxTest('Linux: 100 times in a row', async () => {
    for (let n = 0; n < 100; n++) {
      const shell = await warmed();
      kill(shell.pid, 'SIGKILL');
      await dead(shell.pid);
      expect(await bash(`echo ${n}`)).toMatchObject({ exitCode: 0, stdout: `${n}\n`, notes: [] });
    }
    expect(await runsWarm(command)).toMatchObject(told);
  });

  linuxTest('Linux: killed in the very turn of the call', async () => {
    for (let n = 0; n < 50; n++) {
      const shell = await warmed();
      const running = bash(`echo ${n}`);
      kill(shell.pid, 'SIGKILL');
      // Either the command was there already and was killed with it, or it had another shell.
      const { status, exitCode, signal, stdout } = await settles(running);
      if (status === 'exited') expect([exitCode, stdout]).toEqual([0, `${n}\n`]);
      else expect([status, exitCode, signal]).toEqual(['signaled', 137, 'SIGKILL']);
    }
  });
});

describe('a stopped one', () => {
  linuxTest('Linux: SIGSTOP: the command runs at once all the same', async () => {
    const shell = await warmed();
    kill(shell.pid, 'SIGSTOP');
    await until(() => !alive(shell.pid), 'the shell is dismissed');
    const [result, time] = await timed(() => settles(bash(command, { timeoutMs: 5_000 })));
    expect(result).toMatchObject(told);
    expect(time).toBeLessThan(HANG);
    expect(await bash(command)).toMatchObject(told);
  });

  linuxTest('Linux: its shim stopped: the command runs all the same', async () => {
    const shell = await warmed();
    kill(shell.ppid, 'SIGSTOP');
    const [result, time] = await timed(() => settles(bash(command, { timeoutMs: 5_000 })));
    expect(result).toMatchObject(told);
    expect(time).toBeLessThan(HANG);
  });
});

const idleTest = testNeeding('taskset and chrt', hasProgram('taskset') && hasProgram('chrt'), 'linux');
/** A bound against a hang of such a host, in ms. Everything else on its processor runs before it. */
const IDLE = 100_000;
/** A host that tells its shim late: all are on one processor, and it runs only when none of them does. */
const held = (source: string) =>
  host(
    `import { execFileSync } from 'node:child_process';
     import { warmShells, warmUp } from 'agent-bash';
     const going = setInterval(() => {}, 1_000);
     await bash('true');
     await warmUp();
     execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)]);
     const told = new Promise((resolve) => process.once('SIGUSR2', resolve));
     console.log(warmShells().waiting);
     await told;
     ${source}
     clearInterval(going);`,
    { before: 'taskset --cpu-list --pid "$(taskset --cpu-list --pid $$ | grep -oE "[0-9]+$")" $$ >/dev/null' },
  );

describe('a command that acts before its shim has received its start', () => {
  idleTest(
    'Linux: it kills the host: nothing is left of it',
    async () => {
      for (let n = 0; n < 5; n++) {
        const seconds = mark();
        const tree = `(env -i setsid sleep ${seconds} &); sleep ${seconds} & sleep ${seconds}`;
        const one = held(`await bash('kill -9 ' + process.pid + ${JSON.stringify(`; ${tree}`)});`);
        await one.says(/1/, IDLE);
        const supervisor = supervisorOf(one.pid)?.pid ?? 0;
        const helpers = [supervisor, ...shimsOf(supervisor).map(({ pid }) => pid)];
        one.process.kill('SIGUSR2');
        expect((await one.ended()).signal).toBe('SIGKILL');
        await until(() => !helpers.some(alive), 'no helper is left');
        expect(sleepers(seconds)).toEqual([]);
      }
    },
    2 * IDLE,
  );

  idleTest(
    'Linux: it stops its shell: it runs into its limit like any other',
    async () => {
      const one = held(`
        for (let n = 0; n < 10; n++) {
          await warmUp();
          const { status, exitCode } = await bash('kill -STOP $$', { timeoutMs: 200, graceMs: 100 });
          console.log(status, exitCode);
        }
        console.log('used', warmShells().used);`);
      await one.says(/1/, IDLE);
      one.process.kill('SIGUSR2');
      await one.says(/used 10/, IDLE);
      expect(one.stdout().match(/timed-out 124\n/g)).toHaveLength(10);
    },
    2 * IDLE,
  );
});

describe('a supervisor that was killed, before the death is noticed', () => {
  idleTest(
    'Linux: a command for which no shell waits runs all the same',
    async () => {
      const one = held(`
        for (let n = 0; n < 10; n++) {
          await bash('true');
          const supervisor = Number(execFileSync('pgrep', ['--newest', '--parent', String(process.pid), 'agent-bash']));
          await warmUp();
          process.kill(supervisor, 'SIGKILL');
          const { status, exitCode, notes } = await bash('exit 2', { env: { OTHER: String(n) } });
          console.log(status, exitCode, notes.length);
        }
        console.log('done');`);
      await one.says(/1/, IDLE);
      one.process.kill('SIGUSR2');
      await one.says(/done/, IDLE);
      expect(one.stdout().match(/exited 2 0\n/g)).toHaveLength(10);
    },
    2 * IDLE,
  );
});

describe('helpers killed while a shell waits', () => {
  linuxTest('Linux: the shim: no error, and its shell is gone', async () => {
    const shell = await warmed();
    kill(shell.ppid, 'SIGKILL');
    await dead(shell.ppid);
    expect(await bash(command)).toMatchObject(told);
    await gone([shell.pid], 4_000);
    expect(await runsWarm(command)).toMatchObject(told);
  });

  linuxTest('Linux: the supervisor: no error, and its shells are gone', async () => {
    await warmed();
    const [supervisor, shells] = [supervisorOf()?.pid ?? 0, waitingShells().map(({ pid }) => pid)];
    kill(supervisor, 'SIGKILL');
    await dead(supervisor);
    expect(await bash(command)).toMatchObject(told);
    await gone(shells, 4_000);
    expect(alive(supervisor)).toBe(false);
    await until(async () => await warmUp(), 'shells wait again');
    expect(await runsWarm(command)).toMatchObject(told);
  });

  linuxTest('Linux: the shim of the shell that waits, right before `warmUp`, 20 times: another waits', async () => {
    for (let n = 0; n < 20; n++) {
      const shell = await warmed();
      kill(shell.ppid, 'SIGKILL');
      expect(await warmUp()).toBe(true);
    }
    expect(await runsWarm(command)).toMatchObject(told);
  });

  linuxTest('Linux: the shims, right before `warmUp`, 20 times: a shell waits', async () => {
    for (let n = 0; n < 20; n++) {
      const seconds = mark();
      const running = bash(`sleep ${seconds}; :`);
      await until(() => sleepers(seconds).length === 1);
      for (const { pid } of shimsOf(supervisorOf()?.pid ?? 0)) kill(pid, 'SIGKILL');
      expect((await settles(running)).status).toBe('signaled');
      expect(await warmUp()).toBe(true);
    }
  });

  linuxTest('Linux: all of them at once, 20 times', async () => {
    for (let n = 0; n < 20; n++) {
      await warmUp();
      const supervisor = supervisorOf()?.pid ?? 0;
      const shells = [...shimsOf(supervisor), ...waitingShells()];
      for (const { pid } of shells) kill(pid, 'SIGKILL');
      kill(supervisor, 'SIGKILL');
      for (const { pid } of shells) await dead(pid);
      expect(await settles(bash(`echo ${n}`))).toMatchObject({ exitCode: 0, stdout: `${n}\n`, notes: [] });
      await gone(shells.map(({ pid }) => pid));
    }
    expect(warmShells().waiting).toBeLessThanOrEqual(2);
  });
});
