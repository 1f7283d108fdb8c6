import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot } from '../../support/index.ts';

const folder = join(import.meta.dirname, 'types');

it('the types of each adapter fit those of its framework', async () => {
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]);
  expect(stdout).toBe('');
  const adapters = readdirSync(join(packageRoot, 'ts', 'frameworks')).filter((name) => name !== 'shared');
  const checked = readdirSync(folder).filter((name) => name.endsWith('.test-d.ts'));
  expect(checked.sort()).toEqual(adapters.map((name) => `${name}.test-d.ts`).sort());
}, 240_000);
