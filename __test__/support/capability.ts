import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'vitest';

export const isLinux = process.platform === 'linux';
export const isRoot = process.getuid?.() === 0;

/** Whether a program of that name is on the PATH. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((path) => {
    try {
      accessSync(join(path, name), constants.X_OK);
      return statSync(join(path, name)).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * A test that only Linux can show, as its name says. Under AGENT_BASH_CI=1 it runs wherever the platform is Linux,
 * and cannot be skipped there.
 */
export const linuxTest = test.runIf(isLinux);

/**
 * A test that needs something of the machine: skipped without it, but a failure under AGENT_BASH_CI=1, so that a skip
 * cannot pass for a success.
 */
export function testNeeding(capability: string, there: boolean, onlyIn: NodeJS.Platform | 'any' = 'any') {
  if (there) return test;
  const elsewhere = onlyIn !== 'any' && onlyIn !== process.platform;
  if (process.env.AGENT_BASH_CI !== '1' || elsewhere) return skippedWithout(capability);
  return ((name: string) =>
    test(name, () => {
      throw new Error(`this machine was to have ${capability}`);
    })) as unknown as typeof test.skip;
}

type Declare = (name: string, ...rest: unknown[]) => void;

/** A test that is skipped. Its name says what is missing, which `npm run machines` reports. */
export function skippedWithout(capability: string) {
  const named = (name: string) => `${name} [needs ${capability}]`;
  const skip = (name: string, ...rest: unknown[]) => (test.skip as Declare)(named(name), ...rest);
  return Object.assign(skip, {
    each:
      (...rows: unknown[]) =>
      (name: string, ...rest: unknown[]) =>
        (test.skip.each as (...rows: unknown[]) => Declare)(...rows)(named(name), ...rest),
  }) as unknown as typeof test.skip;
}

/**
 * A test of what ends within the tenth of a second for which the result of a command waits: an emulated machine starts
 * no program in that time.
 */
export const promptTest =
  process.env.AGENT_BASH_EMULATED === '1' ? skippedWithout('the speed of a real processor') : linuxTest;

/** Whether a file system can be mounted in a namespace that `unshare` makes with these flags. */
export const canMount = (flags: string) =>
  spawnSync('unshare', [flags, 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0;

/** A test that needs root. */
export const rootTest = isRoot ? linuxTest : skippedWithout('root');

/** Numbers of file systems, as `statfs` gives them. */
const FILE_SYSTEM = { fuse: 0x65735546, nfs: 0x6969 };

const { type: fileSystem } = statfsSync(tmpdir());

const isServed = Object.values(FILE_SYSTEM).includes(fileSystem);

/** Whether the temporary directory is on FUSE. */
export const isFuse = fileSystem === FILE_SYSTEM.fuse;

/** A test that tells changes of others by their times: on FUSE and network file systems another clock sets those. */
export const clockTest = isServed ? skippedWithout("a file system with this machine's clock") : linuxTest;

/** A test of what is copied within 300 ms, which an emulated machine does not do on FUSE or over a network. */
export const copyTest =
  isServed && process.env.AGENT_BASH_EMULATED === '1' ? skippedWithout('the speed of a real processor') : test;

/** Whether a script of Python succeeds with an empty directory, which it is given. */
function succeeds(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
  const { status } = spawnSync('python3', ['-c', `import os, sys; os.chdir(sys.argv[1]); ${script}`, folder]);
  rmSync(folder, { recursive: true });
  return status === 0;
}

/** A test of attributes that a user has set. tmpfs has none before Linux 6.6. */
export const attributeTest = () =>
  succeeds("os.setxattr('.', 'user.x', b'')") ? linuxTest : skippedWithout('attributes of users on the file system');

const EXCHANGE = `import ctypes; open('a', 'w'); open('b', 'w'); assert ctypes.CDLL(None).renameat2(-100, b'a', -100, b'b', 2) == 0`;

/** A test of two files that are exchanged in one step, which NFS cannot do. */
export const exchangeTest = () =>
  succeeds(EXCHANGE) ? linuxTest : skippedWithout('an exchange of two files on the file system');
