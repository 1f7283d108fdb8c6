import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, warmShells, warmUp } from 'agent-bash';
import { expect, test } from 'vitest';
import { folder, hostEnv, hostResult, linuxTest, until } from '../support/index.ts';
import { home, keptIn, withSnapshot } from './support.ts';

/** An rc file that counts how often it is read. */
const COUNTED = "echo read >>~/count; alias a='echo A'\n";
const reads = (path: string) => readFileSync(join(path, 'count'), 'utf8').trim().split('\n').length;
const inAnotherProcess = () =>
  hostResult<string>("console.log(JSON.stringify((await bash('a', { snapshot: true })).stdout));");

test('rc files are read once, by however many commands at once, and again when they change', async () => {
  const path = home({ '.bashrc': COUNTED });
  const all = await Promise.all(Array.from({ length: 8 }, () => withSnapshot('a')));
  expect(all.map(({ stdout }) => stdout)).toEqual(Array(8).fill('A\n'));
  expect(reads(path)).toBe(1);
  appendFileSync(join(path, '.bashrc'), "alias a='echo B'\n");
  expect((await withSnapshot('a')).stdout).toBe('B\n');
  writeFileSync(join(path, '.bash_profile'), "alias a='echo C'; b() { echo b; }\n");
  expect((await withSnapshot('a; b')).stdout).toBe('B\nb\n');
  expect(reads(path)).toBe(3);
});

test('variables that only one command has read nothing again', async () => {
  const path = home({ '.bashrc': COUNTED });
  for (const X of ['1', '2']) expect((await withSnapshot('a; echo $X', { env: { X } })).stdout).toBe(`A\n${X}\n`);
  expect(reads(path)).toBe(1);
});

test('a later process finds them in a private file; one that is old, damaged or not private is not used', async () => {
  const path = home({ '.bashrc': COUNTED });
  const cache = join(path, '.cache', 'agent-bash');
  expect(await inAnotherProcess()).toBe('A\n');
  expect(await inAnotherProcess()).toBe('A\n');
  expect(reads(path)).toBe(1);
  const [name = '', ...others] = readdirSync(cache);
  expect(others).toEqual([]);
  const file = join(cache, name);
  expect([statSync(cache).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);

  const spoil: (() => unknown)[] = [
    () => utimesSync(file, new Date(), new Date(Date.now() - 25 * 60 * 60 * 1000)),
    () => writeFileSync(file, readFileSync(file, 'utf8').replace('echo A', 'echo X')),
    () => writeFileSync(file, readFileSync(file).subarray(0, -3)),
    () => chmodSync(file, 0o644),
    () => {
      renameSync(file, join(path, 'moved'));
      symlinkSync(join(path, 'moved'), file);
    },
  ];
  for (const [index, once] of spoil.entries()) {
    await once();
    expect(await inAnotherProcess()).toBe('A\n');
    expect(reads(path)).toBe(index + 2);
  }
});

test('two processes at once', async () => {
  const path = home({ '.bashrc': `sleep 0.2\n${COUNTED}` });
  expect(await Promise.all([inAnotherProcess(), inAnotherProcess()])).toEqual(['A\n', 'A\n']);
  await until(() => keptIn(join(path, '.cache')).length === 1);
});

test('without a place to keep it nothing is missing', async () => {
  const path = home({ '.bashrc': COUNTED });
  const elsewhere = folder();
  symlinkSync(elsewhere, join(path, 'link'));
  writeFileSync(join(path, 'file'), '');
  for (const [index, cache] of [join(path, 'file'), join(path, 'link', 'new')].entries()) {
    hostEnv({ XDG_CACHE_HOME: cache });
    expect(await withSnapshot('a')).toMatchObject({ stdout: 'A\n', notes: [] });
    expect(reads(path)).toBe(index + 1);
  }
  await until(() => keptIn(join(elsewhere, 'new')).length === 1);
});

linuxTest('a waiting shell has it already', async () => {
  home({ '.bashrc': COUNTED });
  expect(await warmUp({ snapshot: true })).toBe(true);
  const { used } = warmShells();
  expect((await withSnapshot('a')).stdout).toBe('A\n');
  expect(warmShells().used).toBe(used + 1);
});

test('a session begins with it and goes on with its own state', async () => {
  home({ '.bashrc': `${COUNTED}f() { echo f; }\nPATH=/opt/mine:$PATH\n` });
  await using session = new BashSession({ snapshot: true });
  expect((await session.run('a; f; echo "${PATH%%:*}"; alias b="echo B"; unset -f f')).stdout).toBe(
    'A\nf\n/opt/mine\n',
  );
  const second = await session.run('a; b; f');
  expect([second.stdout, second.exitCode, second.notes]).toEqual(['A\nB\n', 127, []]);
  await session.reset();
  expect((await session.run('f')).stdout).toBe('f\n');
});

test('a function that sets a trap keeps it in a session', async () => {
  home({ '.bashrc': "bye() { trap 'echo bye' EXIT; }\n" });
  await using session = new BashSession({ snapshot: true });
  expect((await session.run('x=1; bye; echo on')).stdout).toBe('on\nbye\n');
  expect((await session.run('echo $x')).stdout).toBe('1\n');
});

test('a task has it', async () => {
  home({ '.bashrc': `${COUNTED}f() { echo "f $1"; }\n` });
  const registry = new BackgroundRegistry();
  const { id } = await registry.start('a; f x', { snapshot: true });
  expect((await registry.wait(id)).output).toContain('A\nf x\n');
  await registry.close();
});

test('a command that is too long for an argument has it', async () => {
  home({ '.bashrc': COUNTED });
  expect((await withSnapshot(`: ${'x'.repeat(200_000)}\na`)).stdout).toBe('A\n');
});
