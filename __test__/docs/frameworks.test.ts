import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { adapters, tested } from '../../scripts/frameworks.mjs';
import { packageRoot } from '../support/index.ts';
import { FRAMEWORKS } from './adapters.ts';
import { page, source, spans, table } from './examples.ts';
import { generated } from './generated.ts';
import { code, lines } from './tables.ts';

const packagesOf = (versions: { name: string; version: string }[]) =>
  versions.map(({ name, version }) => `${code(name)} ${version}`).join(', ');

await generated('frameworks.md', {
  versions: lines(
    ['framework', 'entry', 'packages', 'Node.js'],
    tested().map(({ adapter, versions, nodes }) => [
      `[${FRAMEWORKS[adapter]}](${adapter}.md)`,
      code(`agent-bash/${adapter}`),
      packagesOf(versions),
      nodes.join(', '),
    ]),
  ),
});

test('the page of entries has each entry of the package', async () => {
  const { exports } = JSON.parse(await source('package.json'));
  const entries = Object.keys(exports)
    .filter((name) => name !== './package.json')
    .map((name) => name.replace('.', 'agent-bash'));
  const named = table(await page('entries.md'), 'The entries').flatMap((row) => spans(row[2] ?? ''));
  expect(named.sort()).toEqual(entries.sort());
});

it('each directory of ts/frameworks has its packages listed', () => {
  const directories = readdirSync(join(packageRoot, 'ts', 'frameworks')).filter((name) => name !== 'shared');
  expect(directories.sort()).toEqual(adapters().sort());
});

const HEADINGS = ['Example', 'Options', 'Behaviour', 'Approval, confinement and undo', 'Limits'];

describe.each(adapters())('%s', (name) => {
  it('has sections of all pages of adapters, in their order', async () => {
    const headings = [...(await page(`${name}.md`)).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(expect.arrayContaining(['Example', 'Options', 'Behaviour']));
    expect(headings).toEqual(HEADINGS.filter((heading) => headings.includes(heading)));
  });

  it('has types of its framework in a test, and a test of the gate', async () => {
    expect(await source(`__test__/stress/frameworks/types/${name}.test-d.ts`)).toContain(`'agent-bash/${name}'`);
    expect(await source(`__test__/frameworks/${name}.test.ts`)).toContain(`'agent-bash/${name}'`);
  });
});
