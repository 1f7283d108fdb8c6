import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { expect, test } from 'vitest';
import { hostEnv, variables } from '../support/index.ts';
import { facts } from './built.ts';
import { page, source, spans, table } from './examples.ts';
import { generated } from './generated.ts';
import { tables } from './tables.ts';

await generated('environment.md', tables());

const seen = async (options: Parameters<typeof bash>[1]) =>
  variables((await bash('env -0', { sanitize: false, truncate: { keep: 'tail' }, ...options })).stdout);

test('names that the tables call secret are withheld, those that they call harmless are not', async () => {
  const secret = facts.environment.secretNames.map(({ example }) => example);
  const open = facts.environment.harmless.map(({ example }) => example);
  expect(secret.length).toBeGreaterThan(40);
  expect(open.length).toBeGreaterThan(15);
  hostEnv(Object.fromEntries([...secret, ...open].map((name) => [name, 'some-value'])));
  const found = await seen({});
  expect(secret.filter((name) => name in found)).toEqual([]);
  expect(open.filter((name) => !(name in found))).toEqual([]);
});

test('the page says how many services are known', async () => {
  const services = facts.environment.shapes.flatMap(({ vendor }) => vendor.split(', '));
  expect(new Set(services).size).toBeGreaterThan(150);
  expect(await page('environment.md')).toMatch(/over 150\sservices/);
});

test('the defaults are what a command sees', async () => {
  const rows = facts.environment.defaults;
  expect(rows.length).toBeGreaterThan(50);
  hostEnv(Object.fromEntries(rows.map(({ name }) => [name, 'other'])));
  const found = await seen({ inheritEnv: 'all' });
  for (const { name, value } of rows) expect(found[name] ?? null, name).toBe(value);
});

test('the table of own variables has each that the source reads or sets', async () => {
  const files = ['ts', 'crates', 'src'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)),
  );
  const own = files.filter((file) => /\.(ts|rs)$/.test(file) && !/test|\bbuild\.rs$|differential/.test(file));
  const texts = await Promise.all(own.map(source));
  // A variable is read from the environment, or its name is a constant or the first of the defaults.
  const uses =
    /(?:env\.|Switch::new\(|of_host\(|MARK(?:: &str)? = |always\()["']?(AGENT_BASH(?:_[A-Z_]+)?)\b(?=["'\]; ,)\n])/g;
  const used = new Set(texts.flatMap((text) => [...text.matchAll(uses)].map(([, name]) => name)));
  const rows = table(await page('environment.md'), 'Variables of agent-bash').map(([cell = '']) => spans(cell)[0]);
  expect(rows.map((name) => name?.split('=')[0]).sort()).toEqual([...used].sort());
});
