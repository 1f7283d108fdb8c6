import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { hasProgram } from './capability.ts';
import { confined } from './confined/index.ts';
import { packageRoot } from './host.ts';

/** Beside the dependencies. Confined commands have a /tmp of their own, and would not see a clone there. */
const above = confined && packageRoot.startsWith('/tmp/') ? homedir() : join(packageRoot, 'node_modules');
const cache = join(above, '.cache', 'programs');

/**
 * Returns the directory of an unpacked Debian package, with every dependency that this machine lacks. It is not
 * installed, which needs no privilege, and is kept beside the dependencies. `undefined` if it cannot be had.
 */
export function unpacked(debianPackage: string): string | undefined {
  const place = join(cache, debianPackage);
  if (!existsSync(place) && hasProgram('apt-get') && hasProgram('dpkg')) unpack(debianPackage, place);
  return existsSync(place) ? place : undefined;
}

/** The directories of its libraries, for LD_LIBRARY_PATH. */
export function librariesOf(place: string): string {
  const folders = ['lib', 'usr/lib'].flatMap((lib) => {
    const parent = join(place, lib);
    return existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
  });
  return folders.filter((folder) => basename(folder).includes('-linux-')).join(':');
}

function unpack(debianPackage: string, place: string): void {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'new-'));
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
    encoding: 'utf8',
  };
  const download = () => {
    const missing = ['install', '--print-uris', '-qq', '-y', '--no-install-recommends', '--reinstall', debianPackage];
    const uris = execFileSync('apt-get', missing, options);
    const names = [...uris.matchAll(/^'\S+' ([^_\s]+)_/gm)].map(([, name]) => name as string);
    execFileSync('apt-get', ['download', ...names], options);
  };
  try {
    try {
      download();
    } catch {
      // The lists of packages may be missing.
      execFileSync('apt-get', ['update'], options);
      download();
    }
    for (const file of readdirSync(folder)) execFileSync('dpkg', ['-x', file, 'unpacked'], options);
    // Another test file may have been faster.
    renameSync(join(folder, 'unpacked'), place);
  } catch {
    // Then the package cannot be had, and the test reports that.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
