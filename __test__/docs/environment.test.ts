import { bash } from 'agent-bash';
import { expect, test } from 'vitest';
import { hostEnv, variables } from '../support/index.ts';
import { facts } from './built.ts';
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

test('the defaults are what a command sees', async () => {
  const rows = facts.environment.defaults;
  expect(rows.length).toBeGreaterThan(50);
  hostEnv(Object.fromEntries(rows.map(({ name }) => [name, 'other'])));
  const found = await seen({ inheritEnv: 'all' });
  for (const { name, value } of rows) expect(found[name] ?? null, name).toBe(value);
});
