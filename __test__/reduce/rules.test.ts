import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocks, page } from '../docs/examples.ts';
import { packageRoot } from '../support/index.ts';

// `cargo test --lib reduce::rules` compares the view of each fixture. These tests compare the page with the rules.

const RULES = join(packageRoot, 'crates/reduce/rules');
// A rule with a recorded output in this directory is for views. The others only count tests.
const names = (await readdir(RULES)).flatMap((name) => /^([\w-]+)\.txt$/.exec(name)?.[1] ?? []);
const tokens = await page('tokens.md');

test('the page names every rule', () => {
  const list = /There are rules for ([^.]*)\./.exec(tokens)?.[1] ?? '';
  expect(list.split(/,\s+|\s+and\s+/).map((name) => name.trim())).toEqual(names.sort());
});

test('the rule on the page has only lines of the rule of pytest', async () => {
  const rule = await readFile(join(RULES, 'pytest.toml'), 'utf8');
  const patterns = (text: string) => text.match(/'[^'\n]*'|"[^"\n]*"/g) ?? [];
  const [shown] = blocks(tokens).filter(({ kind }) => kind === 'toml');
  expect(patterns(shown?.text ?? '').length).toBeGreaterThan(5);
  for (const pattern of patterns(shown?.text ?? '')) {
    expect(patterns(rule).map((each) => each.slice(1, -1))).toContain(pattern.slice(1, -1));
  }
});
