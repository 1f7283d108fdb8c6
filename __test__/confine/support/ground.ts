import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { remove } from '../../support/folder.ts';
import { isRoot, packageRoot } from '../../support/index.ts';
import { RESOLVER } from './canaries.ts';
import type { User } from './users.ts';

/**
 * The directory of one test file: a copy of the package that every user can read, the program of the attacks, and the
 * places of the attacks. It is not below /tmp, which is private in a world.
 */
export interface Ground {
  path: string;
  /** The directory with the package. */
  package: string;
  /** The directory with the program `attack`, for PATH. */
  bin: string;
  /** The home of the attacker's process. */
  home(user: User): string;
  /** A new directory that belongs to the user. */
  place(user: User, name: string): string;
  remove(): void;
}

function directory(): string {
  const above = isRoot ? '/var/lib' : join(packageRoot, 'node_modules', '.cache');
  mkdirSync(above, { recursive: true });
  const path = mkdtempSync(join(above, 'agent-bash-test-'));
  chmodSync(path, 0o755);
  return path;
}

/** An empty directory for one test that is not below /tmp. */
export function lasting(): string {
  const path = directory();
  onTestFinished(() => remove(path));
  return path;
}

const PACKAGE = /^(?:dist|package\.json|native\.cjs|agent-bash.*|index\.d\.ts)$/;

/** Without `attacks` the program of the attacks is not compiled. */
export function ground({ attacks = true } = {}): Ground {
  const path = directory();
  const bin = join(path, 'bin');
  mkdirSync(bin);
  const made = {
    path,
    package: isRoot ? copyPackage(join(path, 'package')) : packageRoot,
    bin,
    home(user: User) {
      const home = join(path, `home-${user.uid}`);
      mkdirSync(home, { recursive: true });
      if (isRoot) chownSync(home, user.uid, user.gid);
      return home;
    },
    place(user: User, name: string) {
      const place = mkdtempSync(join(path, `${name.replace(/\W+/g, '-').slice(0, 40)}-`));
      if (isRoot) chownSync(place, user.uid, user.gid);
      chmodSync(place, 0o755);
      return place;
    },
    remove: () => remove(path),
  };
  if (attacks) provide(path, bin);
  return made;
}

/** The programs of the attacks, and the files that these need. */
function provide(path: string, bin: string): void {
  compile(join(bin, 'attack'));
  copyFileSync(join(sources, 'handshake.py'), join(bin, 'handshake'));
  chmodSync(join(bin, 'handshake'), 0o755);
  writeFileSync(join(path, 'resolv.conf'), `nameserver ${RESOLVER}\n`);
  if (isRoot) {
    copyFileSync(join(bin, 'attack'), join(bin, 'risen'));
    chmodSync(join(bin, 'risen'), 0o4755);
    copyFileSync(join(bin, 'attack'), join(bin, 'capable'));
    spawnSync('setcap', ['cap_sys_admin,cap_dac_override+ep', join(bin, 'capable')]);
  }
}

/** The clone may lie where other users cannot read. */
function copyPackage(to: string): string {
  mkdirSync(join(to, 'node_modules'), { recursive: true });
  for (const name of readdirSync(packageRoot).filter((name) => PACKAGE.test(name)))
    cpSync(join(packageRoot, name), join(to, name), { recursive: true });
  // `import 'agent-bash'` finds a package by its own name.
  symlinkSync('..', join(to, 'node_modules', 'agent-bash'));
  return to;
}

const sources = join(import.meta.dirname, 'attack');

function compile(to: string): void {
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'));
  const { status, stderr } = spawnSync('gcc', ['-O1', '-w', '-pthread', '-o', to, ...files, '-lrt'], {
    cwd: sources,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the attacks do not compile: ${stderr}`);
}
