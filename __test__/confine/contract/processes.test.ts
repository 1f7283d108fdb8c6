import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { BashSession, bash } from 'agent-bash';
import { expect, onTestFinished } from 'vitest';
import { folder, linuxTest } from '../../support/index.ts';
import { withoutNamespaces } from '../support/held.ts';

const run = async (command: string) => bash(command, { cwd: folder(), confine: 'workspace', timeoutMs: 20_000 });
const python = (...lines: string[]) => `python3 -c '${['import os, signal, threading', ...lines].join('\n')}'`;
const SIGNALLED: [what: string, script: string, output: string][] = [
  ['a child', 'sleep 60 & kill $!; wait $!; echo $?', '143\n'],
  [
    'a zombie',
    python(
      'child = os.spawnlp(os.P_NOWAIT, "true", "true")',
      'os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)',
      'print(os.kill(child, signal.SIGTERM), os.waitpid(child, 0)[1])',
    ),
    'None 0\n',
  ],
  ['a job', 'set -m; (sleep 60; :) 2>/dev/null & kill -- -$!; wait $! 2>/dev/null; echo $?', '143\n'],
  [
    'a grandchild in a session of its own',
    "setsid sh -c 'echo $$ >p; exec sleep 60' & until [ -s p ]; do :; done; kill $(<p) && echo sent",
    'sent\n',
  ],
  ['a parent', 'trap "echo got" USR1; sh -c \'kill -USR1 $PPID\'; sleep 0', 'got\n'],
  ['itself', 'trap "echo got" USR1; kill -USR1 $$; sleep 0', 'got\n'],
  ['its group', 'trap "echo got" USR1; kill -USR1 0; sleep 0', 'got\n'],
  ['whoever runs too long', 'timeout 0.1 sleep 60; echo $?', '124\n'],
  ['those of a name', 'sleep 61 & until pgrep -x sleep >p; do :; done; pkill -x sleep; wait $!; echo $?', '143\n'],
  ['nobody', 'kill -0 $((2 ** 22 + 1)) 2>&1 | grep -o "No such process"', 'No such process\n'],
  [
    'a thread',
    python(
      'signal.signal(signal.SIGUSR1, lambda *_: print("got"))',
      'signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)',
    ),
    'got\n',
  ],
  [
    'a descriptor',
    python(
      'child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "60")',
      'signal.pidfd_send_signal(os.pidfd_open(child), signal.SIGTERM)',
      'print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))',
    ),
    '-15\n',
  ],
];
linuxTest.each(SIGNALLED)('a command signals %s', async (_, script, output) => {
  const { stdout, confinement } = await run(script);
  expect([stdout, confinement?.denied]).toEqual([output, []]);
});

linuxTest('a process of the machine gets no signal, and nothing of it can be read', async () => {
  const victim = spawn('sleep', ['60'], { env: { SECRET: 'of-the-host' } });
  onTestFinished(() => void victim.kill());
  const { pid } = victim;
  const attempts = [`kill ${pid}`, `kill -0 ${pid}`, `kill -- -${pid}`, `kill ${process.ppid}`];
  // With namespaces the shim is in the world, and ignores the signal.
  if (withoutNamespaces) attempts.push('kill $PPID');
  const reads = ['environ', 'cmdline', 'maps', 'fd/0'].map((name) => `cat /proc/${pid}/${name} | grep -q .`);
  const each = [...attempts, ...reads].map((attempt) => `(${attempt}) 2>/dev/null && echo "${attempt}"`);
  const { stdout, confinement } = await run(each.join('\n'));
  expect([stdout, victim.exitCode, victim.signalCode]).toEqual(['', null, null]);
  if (withoutNamespaces)
    expect(confinement?.denied).toContainEqual(expect.objectContaining({ kind: 'process', target: `${pid}` }));
});

linuxTest('limits, groups and scheduling are read of processes of the world alone', async () => {
  const victim = spawn('sleep', ['60']);
  onTestFinished(() => void victim.kill());
  const source = `
import os, resource, subprocess, sys
reads = [os.getsid, os.getpgid, os.sched_getscheduler, os.sched_getparam, os.sched_getaffinity, os.sched_rr_get_interval,
  lambda pid: os.getpriority(os.PRIO_PROCESS, pid), lambda pid: resource.prlimit(pid, resource.RLIMIT_NOFILE)]
def read(pid):
    found = []
    for one in reads:
        try: one(pid); found.append("read")
        except OSError as error: found.append(type(error).__name__)
    return found
child = subprocess.Popen(["sleep", "60"])
print(*(set(read(pid)) for pid in (0, os.getpid(), child.pid, int(sys.argv[1]))))
child.kill()`;
  const { stdout, stderr } = await run(`python3 -c '${source}' ${victim.pid}`);
  expect(stdout, stderr).toBe("{'read'} {'read'} {'read'} {'ProcessLookupError'}\n");
});

linuxTest('/proc tells nothing of the keys, the timers and the shared memory of the machine', async () => {
  const id = /\d+/.exec(execFileSync('ipcmk', ['-M', '4321'], { encoding: 'utf8' }))?.[0] ?? '';
  onTestFinished(() => void execFileSync('ipcrm', ['-m', id]));
  expect(readFileSync('/proc/sysvipc/shm', 'utf8')).toContain('4321');
  const { stdout } = await run('cd /proc; cat keys kcore kmsg timer_list sysvipc/shm 2>/dev/null | grep -v shmid');
  expect(stdout).toBe('');
});

linuxTest('ps and /proc list the processes of the world', async () => {
  const { stdout } = await run(
    'sleep 60 & ps axo args= | sort; cd /proc; ls -d [0-9]* | wc -w; head -1 meminfo; kill $!',
  );
  const lines = stdout.split('\n').filter((line) => !line.includes('ps axo'));
  if (withoutNamespaces) expect(lines.slice(0, 2)).toEqual(['sleep 60', 'sort']);
  expect(stdout).not.toContain('vitest');
  expect(lines.at(-2)).toMatch(/^MemTotal/);
});

linuxTest('a command reads its own processes', async () => {
  const { stdout } = await run(
    'MARK=of-a-child sleep 60 & until grep -ao of-a-child /proc/$!/environ; do :; done; kill $!',
  );
  expect(stdout).toBe('of-a-child\n');
});

linuxTest('a later command of a session ends what an earlier one has left', async () => {
  await using session = new BashSession({ cwd: folder(), confine: 'workspace' });
  const { stdout } = await session.run('setsid sleep 60 >/dev/null 2>&1 & echo $!');
  const later = await session.run(`ps -o args= -p ${stdout.trim()}; kill ${stdout.trim()} && echo ended`);
  expect(later.stdout).toBe('sleep 60\nended\n');
});
