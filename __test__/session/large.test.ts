import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  folder,
  host,
  hostResult,
  kill,
  linuxTest,
  processes,
  shimsOf,
  supervisorOf,
  timed,
  until,
  zombiesOf,
} from '../support/index.ts';
import { gone, waitingShells } from '../warm/support.ts';
import { inTurn, session, WAYS } from './support.ts';

/** A bound in ms on a command of a session with much state, on a loaded machine. */
const REASON = 10_000;

describe.each(WAYS)('large state in a session, %s', (_, way) => {
  test('a variable of 5 MB', async () => {
    const one = session(way);
    await one.run('v=$(head -c 5000000 /dev/zero | tr "\\0" "x"); w=${v:0:100}');
    for (let n = 0; n < 3; n++) {
      const [{ stdout }, time] = await timed(() => one.run('echo ${#v} ${#w}; printf %s "$v" | tr -d x | wc -c'));
      expect(stdout).toBe('5000000 100\n0\n');
      expect(time).toBeLessThan(REASON);
    }
    await one.run('unset v');
    expect((await one.run('echo ${#v} ${#w}')).stdout).toBe('0 100\n');
  });

  test('one with every byte but NUL', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, n) => (n % 255) + 1);
    const path = `${folder()}/bytes`;
    writeFileSync(path, bytes);
    const one = session(way);
    await one.run(`export LC_ALL=C; IFS= read -r -d "" v <${path}`);
    expect((await one.run(`printf %s "$v" | cmp - ${path} && echo same`)).stdout).toBe('same\n');
    expect((await one.run(`printf %s "$v" | cmp - ${path} && echo same`)).stdout).toBe('same\n');
  });

  test('500 functions', async () => {
    const one = session(way);
    await one.run(
      Array.from(
        { length: 500 },
        (_, n) =>
          `f${n}() { local x=${n}; if [ "$1" ]; then echo "f $x $1"; else for i in 1 2 3; do echo $i; done; fi; }`,
      ).join('\n'),
    );
    for (let n = 0; n < 5; n++) {
      const [{ stdout }, time] = await timed(() => one.run(`f${n * 100} a; f499 b`));
      expect(stdout).toBe(`f ${n * 100} a\nf 499 b\n`);
      expect(time).toBeLessThan(REASON);
    }
    expect((await one.run('declare -F | wc -l')).stdout.trim()).toBe('500');
  });

  test('arrays of 10,000 elements', async () => {
    const one = session(way);
    await one.run(
      'for ((i = 0; i < 10000; i++)); do a[i * 3]="e $i"; done; declare -A m; for ((i = 0; i < 10000; i++)); do m["k $i"]=$i; done',
    );
    for (let n = 0; n < 3; n++) {
      const [{ stdout }, time] = await timed(() =>
        one.run('echo "${#a[@]} ${a[29997]} ${#m[@]} ${m[k 9999]}"; a[0]=z'),
      );
      expect(stdout).toBe('10000 e 9999 10000 9999\n');
      expect(time).toBeLessThan(REASON);
    }
  });

  test('3,000 exported variables', async () => {
    const one = session(way);
    await one.run('for ((i = 0; i < 3000; i++)); do export "V$i=value $i"; done');
    expect((await one.run('echo "$V2999"; env | grep -c "^V[0-9]"')).stdout).toBe('value 2999\n3000\n');
    expect((await one.run('env | grep -c "^V[0-9]"')).stdout).toBe('3000\n');
  });

  test('an environment that is too large for the kernel: the command says so, the session goes on', async () => {
    const one = session(way);
    await one.run('export BIG=$(printf %200000d 1)');
    expect((await one.run('echo ${#BIG}; /bin/true 2>/dev/null; echo $?')).stdout).toBe('200000\n126\n');
    await one.run('unset BIG');
    expect((await one.run('/bin/true; echo $?')).stdout).toBe('0\n');
  });

  test('a command of 4 MB and one of 131,072 bytes', async () => {
    const one = session(way);
    await one.run(`x=${'a'.repeat(4_000_000)}`);
    expect((await one.run('echo ${#x}')).stdout).toBe('4000000\n');
    await one.run(`y=1; : ${'b'.repeat(131_072 - 7)}`);
    expect((await one.run(`echo $y; : ${'c'.repeat(20_000)}`)).stdout).toBe('1\n');
  });

  test('deeply nested functions and long lines', async () => {
    const one = session(way);
    await one.run(
      `deep() { ${'if true; then '.repeat(60)}echo deep${'; fi'.repeat(60)}; }; line="${'word '.repeat(50_000)}"`,
    );
    expect((await one.run('deep; set -- $line; echo $#')).stdout).toBe('deep\n50000\n');
  });
});

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
