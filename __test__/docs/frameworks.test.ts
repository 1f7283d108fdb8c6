import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapters, tested } from '../../scripts/frameworks.mjs';
import { packageRoot } from '../support/index.ts';
import { page, source } from './examples.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

await generated('frameworks.md', {
  versions: lines(
    ['entry', 'packages', 'Node.js'],
    tested().map(({ adapter, versions, nodes }) => [
      `[${code(`agent-bash/${adapter}`)}](${adapter}.md)`,
      versions.map(({ name, version }) => `${code(name)} ${version}`).join(', '),
      nodes.join(', '),
    ]),
  ),
});

it('each directory of ts/frameworks has its packages listed', () => {
  const directories = readdirSync(join(packageRoot, 'ts', 'frameworks')).filter((name) => name !== 'shared');
  expect(directories.sort()).toEqual(adapters().sort());
});

/** The first cells of the table below the heading «What … lacks». */
function situations(text: string): string[] {
  const rows = /^## What [^\n]* lacks?\n.*?^\|[-|]+\n((?:\|[^\n]*\n)+)/ms.exec(text)?.[1] ?? '';
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => row.split('|')[1]?.trim() ?? '');
}

describe.each(adapters())('%s', (name) => {
  it('shows each row of its table by a test', async () => {
    const rows = situations(await page(`${name}.md`));
    expect(rows.length).toBeGreaterThan(3);
    const tests = await source(`__test__/stress/frameworks/${name}.test.ts`);
    const names = [...tests.matchAll(/\bit\(\s*(['"`])(.*?)\1,/g)].map(([, , title = '']) => title);
    const missing = rows.filter((row) => !names.some((title) => title === row || title.startsWith(`${row}: `)));
    expect(missing).toEqual([]);
  });

  it('has types of its framework in a test, and a test of the gate', async () => {
    expect(await source(`__test__/stress/frameworks/types/${name}.test-d.ts`)).toContain(`'agent-bash/${name}'`);
    expect(await source(`__test__/frameworks/${name}.test.ts`)).toContain(`'agent-bash/${name}'`);
  });
});
