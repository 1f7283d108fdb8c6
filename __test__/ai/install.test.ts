import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folder, packageRoot } from '../support/index.ts';

const run = promisify(execFile);

/** Packs a package without files, and returns the path of its tarball. */
async function packed(manifest: { name: string; version: string }): Promise<string> {
  const cwd = join(folder(), manifest.name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify(manifest));
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd });
  return join(cwd, stdout.trim());
}

test('npm installs the package beside any major of ai', async () => {
  const own = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const { name, version, peerDependencies, peerDependenciesMeta } = own;
  const ours = await packed({ name, version, ...{ peerDependencies, peerDependenciesMeta } });
  for (const major of [5, 8]) {
    const cwd = folder();
    writeFileSync(join(cwd, 'package.json'), '{ "name": "project" }');
    const theirs = await packed({ name: 'ai', version: `${major}.0.0` });
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', theirs, ours], { cwd });
    const { dependencies } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies).toSorted()).toEqual([name, 'ai']);
  }
}, 60_000);
