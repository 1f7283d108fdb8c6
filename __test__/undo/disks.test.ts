import { execFileSync } from 'node:child_process';
import type { BashResult, Undone } from 'agent-bash';
import { describe, expect } from 'vitest';
import { linuxTest, moduleOf, packageRoot, way } from '../support/index.ts';
import { Site } from './support.ts';

/** Mounts need a namespace, which only root may make here. */
const asRoot = process.getuid?.() === 0 ? linuxTest : linuxTest.skip;

interface Run {
  result?: BashResult;
  error?: string;
  undone?: Undone;
}

/** Runs `command` in a host that has mounts of its own, made by the script `mounts`, and undoes it. */
function runMounted(site: Site, mounts: string, command: string, more: object = {}): Run {
  const options = { cwd: site.cwd, safety: 'off', undo: { when: 'always', dir: site.dir, ...more } };
  const source = `import { bash, undo } from '${way ? moduleOf(way) : 'agent-bash'}';
    const run = {};
    try {
      run.result = await bash(${JSON.stringify(command)}, ${JSON.stringify(options)});
      if (run.result.undo) run.undone = await undo(run.result.runId, { dir: ${JSON.stringify(site.dir)} });
    } catch (error) {
      run.error = error.code;
    }
    console.log(JSON.stringify(run));`;
  const script = `set -e; cd ${site.cwd}; ${mounts}\ncd ${packageRoot}; exec "$@"`;
  const node = [process.execPath, '--input-type=module', '--eval', source];
  const argv = ['-m', '--propagation', 'private', 'bash', '-c', script, 'bash', ...node];
  return JSON.parse(execFileSync('unshare', argv, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }));
}

const store = (site: Site, size: string) =>
  `mkdir -p ${site.dir}; mount -t tmpfs -o size=${size},mode=700 x ${site.dir}`;

describe('a disk', () => {
  asRoot('that is full: the command goes on, the receipt says so, and require refuses', () => {
    const site = new Site();
    for (let at = 0; at < 40; at++) site.write(`f${at}`, 'x'.repeat(50_000));
    const command = 'for f in f*; do echo y > $f || exit 1; done; cat f*';
    const { result, undone } = runMounted(site, store(site, '512k'), command);
    expect([result?.exitCode, result?.stdout]).toEqual([0, 'y\n'.repeat(40)]);
    if (result?.undo) {
      expect(result.undo.covers).toBe('part');
      expect(result.undo.notCovered.join('\n')).toMatch(/the disk is almost full/);
      expect(undone?.notCovered.length).toBeGreaterThan(0);
    } else {
      expect(result?.receipt?.state).toBe('unknown');
      expect(result?.notes.join('\n')).toMatch(/No space/);
    }
    for (let at = 0; at < 40; at++) site.write(`f${at}`, 'x'.repeat(50_000));
    const required = runMounted(site, store(site, '512k'), command, { require: true });
    const isRefused = required.error === 'ERR_BASH_UNDO' || required.result?.exitCode === 1;
    expect([isRefused, required.undone?.notCovered ?? []]).toEqual([true, []]);
  });

  asRoot('of its own for the store serves as well', () => {
    const site = new Site();
    for (const name of ['d/a', 'd/b', 'c']) site.write(name);
    const before = site.tree();
    const { result, undone } = runMounted(site, store(site, '16m'), 'rm -rf d; echo x > c; mkdir -p n/m; mv c n/m');
    expect(result?.undo?.covers).toBe('all');
    expect([undone?.conflicts, undone?.notCovered]).toEqual([[], []]);
    expect(site.tree()).toEqual(before);
  });

  asRoot('that the command mounts in a directory of its own: what is on it stays, and the record says so', () => {
    const site = new Site();
    const kept = `${site.cwd}/../kept`;
    const mounts = `mkdir -p ${kept}; mount -t tmpfs x ${kept}; echo old > ${kept}/old; echo old > ${kept}/other`;
    // By its name the program would not be recorded at all.
    const bind = `python3 -c 'import ctypes; assert ctypes.CDLL(None).mount(b"${kept}", b"n/m", None, 4096, None) == 0'`;
    const command = `mkdir n n/m; echo 1 > n/1; echo 2 > n/2; ${bind}; echo new > n/m/old; rm n/m/other`;
    const { result, undone } = runMounted(site, mounts, command);
    expect(result?.receipt).toMatchObject({ state: 'partial', why: expect.stringContaining('another file system') });
    expect(result?.undo).toMatchObject({ covers: 'part', notCovered: [expect.stringContaining('n/m')] });
    const removed = undone?.removed.map((path) => site.short(path)) ?? [];
    expect(removed).toEqual(expect.arrayContaining(['n/1', 'n/2']));
    expect(removed.some((path) => path.startsWith('n/m/'))).toBe(false);
  });

  asRoot('that is read-only: changes fail as without a record', () => {
    const site = new Site();
    for (const name of ['d/a', 'd/b', 'c']) site.write(name);
    const before = site.tree();
    const mounts = `mount --bind ${site.cwd} ${site.cwd}; mount -o remount,bind,ro ${site.cwd}`;
    const { result, undone } = runMounted(site, mounts, 'echo x > c; rm -r d; mkdir n; mv c e');
    expect(result?.stderr.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(4);
    expect(result?.receipt).toMatchObject({ state: 'known', created: [], modified: [], deleted: [] });
    expect([undone?.restored, undone?.removed]).toEqual([[], []]);
    expect(site.tree()).toEqual(before);
  });

  asRoot('that is read-only for the store: the command goes on, and require refuses', () => {
    const site = new Site();
    site.write('c');
    const mounts = `mkdir -p ${site.dir}; mount -t tmpfs -o ro x ${site.dir}`;
    const { result } = runMounted(site, mounts, 'echo x > c');
    expect([result?.exitCode, result?.undo, site.read('c')]).toEqual([0, null, 'x\n']);
    expect(result?.notes.join('\n')).toMatch(/cannot be undone.*Read-only/);
    expect(runMounted(site, mounts, 'echo y > c', { require: true }).error).toBe('ERR_BASH_UNDO');
    expect(site.read('c')).toBe('x\n');
  });
});
