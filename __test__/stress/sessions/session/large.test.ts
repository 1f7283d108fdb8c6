import { writeFileSync } from 'node:fs';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { session, WAYS } from '../../../session/support.ts';
import { reaching } from '../../../support/confined/index.ts';
import { folder, timed } from '../../../support/index.ts';

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
    const place = folder();
    const path = `${place}/bytes`;
    writeFileSync(path, bytes);
    const one = session({ ...way, ...reaching(place) });
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

test('hundreds of commands that each change the state, and then a large one, hold nothing up', async () => {
  const one = session();
  for (let n = 0; n < 320; n++) await one.run(`v=${n}`);
  for (let n = 0; n < 3; n++) await one.run(`big=$(printf '%0400000d' ${n})`);
  expect((await one.run('echo $v ${#big}')).stdout).toBe('319 400000\n');
  // Questions to the helpers are answered from now on.
  expect((await bash('echo on')).stdout).toBe('on\n');
});
