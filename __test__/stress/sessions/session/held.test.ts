import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { inTurn, session } from '../../../session/support.ts';
import {
  host,
  hostResult,
  kill,
  linuxTest,
  processes,
  shimsOf,
  supervisorOf,
  until,
  zombiesOf,
} from '../../../support/index.ts';
import { gone, waitingShells } from '../../../warm/support.ts';

describe('what sessions hold', () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;

  linuxTest('Linux: 200 that were closed leave no descriptor and no process', async () => {
    const round = async (count: number) => {
      const all = Array.from({ length: count }, () => new BashSession());
      await Promise.all(all.map((one) => inTurn(one, 'x=1', 'echo $x')));
      await Promise.all(all.map((one) => one.close()));
    };
    await round(20);
    const before = descriptors();
    for (let n = 0; n < 10; n++) await round(20);
    await until(() => descriptors() <= before + 6, 'descriptors are given back');
    await until(() => zombiesOf(process.pid).length === 0, 'no zombie');
    await until(() => waitingShells().length <= 2, 'few shells wait');
    const supervisor = supervisorOf()?.pid ?? 0;
    await until(() => shimsOf(supervisor).length <= 3, 'few shims are kept');
    for (const { pid } of shimsOf(supervisor)) expect(readdirSync(`/proc/${pid}/fd`).length).toBeLessThan(40);
  });

  linuxTest('Linux: 200 that nobody holds any more leave no descriptor', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const round = async () => {
      await Promise.all(Array.from({ length: 20 }, () => inTurn(new BashSession(), 'x=1', 'echo $x')));
    };
    await round();
    const before = descriptors();
    for (let n = 0; n < 10; n++) await round();
    await until(async () => {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
      return descriptors() <= before + 12;
    }, 'descriptors are given back');
  });

  linuxTest('Linux: 500 commands in one leave none', async () => {
    const one = session();
    for (let n = 0; n < 20; n++) await one.run('x=1');
    const before = descriptors();
    for (let n = 0; n < 500; n++)
      expect((await one.run(n % 5 ? `x=${n}` : `echo ${n}; kill -9 $$`)).status).toBe(n % 5 ? 'exited' : 'signaled');
    await until(() => descriptors() <= before + 6, 'descriptors are given back');
    await until(() => zombiesOf(process.pid).length === 0, 'no zombie');
  });

  linuxTest('Linux: a host with `ulimit -n 64`', async () => {
    const outcome = await hostResult<[string, number]>(
      `import { BashSession } from 'agent-bash';
       const one = new BashSession();
       for (let n = 0; n < 100; n++) await one.run('n=$((n + 1))');
       const many = await Promise.all(Array.from({ length: 60 }, async (_, n) => { const s = new BashSession(); await s.run('x=' + n); const { stdout } = await s.run('echo $x'); await s.close(); return stdout === n + '\\n'; }));
       console.log(JSON.stringify([(await one.run('echo $n')).stdout, many.filter(Boolean).length]));
       await one.close();`,
      { before: 'ulimit -n 64' },
    );
    expect(outcome).toEqual(['100\n', 60]);
  });

  linuxTest('Linux: a host killed while state is written leaves no process', async () => {
    for (let n = 0; n < 4; n++) {
      const running = host(
        `import { BashSession } from 'agent-bash';
         const one = new BashSession();
         await one.run('big=$(printf %8000000d 1)');
         console.log('ready');
         for (;;) await one.run('big=$big; true');`,
      );
      await running.says(/ready/);
      const supervisor = supervisorOf(running.pid)?.pid ?? 0;
      await until(() => shimsOf(supervisor).length > 0);
      const shims = shimsOf(supervisor).map(({ pid }) => pid);
      const shells = processes()
        .filter(({ ppid }) => shims.includes(ppid))
        .map(({ pid }) => pid);
      kill(running.pid, 'SIGKILL');
      await gone([supervisor, ...shims, ...shells], 4_000);
    }
  });

  linuxTest('Linux: a host that ends while state is written, by itself', async () => {
    const running = host(
      `import { BashSession } from 'agent-bash';
       const one = new BashSession();
       await one.run('big=$(printf %8000000d 1)');
       console.log((await one.run('echo quick')).stdout);`,
    );
    expect((await running.ended()).code).toBe(0);
    expect(running.stdout()).toBe('quick\n\n');
  });

  linuxTest('Linux: secrets of the state are in no command line', async () => {
    const one = session({ env: { MY_TOKEN: 'hush-env-hush' } });
    await one.run('secret=hush-plain-hush; export ALSO=hush-exported-hush');
    await one.run('true');
    await until(() => waitingShells().length > 0, 'a shell waits');
    for (const { pid } of [...waitingShells(), ...shimsOf(supervisorOf()?.pid ?? 0)])
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('hush');
  });
});

describe('cold sessions', () => {
  test('AGENT_BASH_WARM=0', async () => {
    const outcome = await hostResult<[string, object]>(
      `import { BashSession, warmShells } from 'agent-bash';
       const one = new BashSession();
       await one.run('x=1; cd /usr; f() { echo "f $x"; }; declare -a a=(1 2); set -f');
       await one.run('kill -9 $$'); await one.run('exit 3'); await one.run('y=2');
       const { stdout } = await one.run('f; pwd; echo "\${a[1]} $y" *');
       console.log(JSON.stringify([stdout, warmShells()]));`,
      { env: { AGENT_BASH_WARM: '0' } },
    );
    expect(outcome).toEqual(['f 1\n/usr\n2 2 *\n', { waiting: 0, used: 0, stale: 0 }]);
  });
});
