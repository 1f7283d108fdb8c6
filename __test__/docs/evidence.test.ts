import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';
import { page, source, spans, table, wrapped } from './examples.ts';
import { generated } from './generated.ts';
import { code } from './tables.ts';

const RULES = 'crates/reduce/rules';

/** A runner: its name, and the commands that its name does not tell. */
type Runner = { name: string; others: string[] };

/** Returns the runner that a rule counts the tests of, or nothing. */
async function runnerOf(name: string): Promise<Runner[]> {
  const rule = await source(`${RULES}/${name}.toml`);
  if (!/^\[tests\]$/m.test(rule)) return [];
  const hint = /^hint = \[(.*?)\]/ms.exec(rule)?.[1] ?? '';
  const commands = [...hint.matchAll(/'([^']+)'/g)].map(([, command = '']) => command);
  const told = [name, name.replace('-', ' ')];
  return [{ name, others: commands.filter((command) => !told.includes(command)) }];
}

const names = (await readdir(join(packageRoot, RULES))).filter((name) => name.endsWith('.toml')).sort();
const runners = (await Promise.all(names.map((name) => runnerOf(name.slice(0, -5))))).flat();

/** Runners whose program was not at hand: their outputs are written after its documentation. */
const byHand = await Promise.all(
  runners.map(async ({ name }) => {
    const counts = await source(`crates/reduce/counts/${name}.toml`);
    return counts.startsWith('# Recorded with ') ? [] : [code(name)];
  }),
);

const shownAs = ({ name, others }: Runner) =>
  code(name) + (others.length > 0 ? ` (also ${others.map(code).join(', ')})` : '');

await generated('evidence.md', {
  runners: [
    wrapped(`Runners: ${runners.map(shownAs).join(', ')}.`),
    `Tried with recorded outputs of the real program, but for ${byHand.flat().join(' and ')}.`,
  ].join('\n\n'),
});

test('the tables have every runner and every field', async () => {
  expect(runners.length).toBe(22);
  const types = await source('ts/evidence/types.ts');
  const block = /export interface TestCounts \{\n(.*?)^\}/ms.exec(types)?.[1] ?? '';
  const fields = [...block.matchAll(/^ {2}(\w+):/gm)].map(([, field]) => field);
  const shown = table(await page('evidence.md'), 'Test counts').flatMap(([cell = '']) => spans(cell));
  expect(shown).toEqual(fields);
});
