import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { page } from '../docs/examples.ts';
import { packageRoot } from '../support/index.ts';

// `cargo test --lib reduce::rules` compares the view of each fixture. This test compares the page with the rules.

const RULES = join(packageRoot, 'crates/reduce/rules');
// A rule with a recorded output in this directory is for views. The others only count tests.
const names = (await readdir(RULES)).flatMap((name) => /^([\w-]+)\.txt$/.exec(name)?.[1] ?? []);
const tokens = await page('tokens.md');

test('the page names every rule', () => {
  const list = /There are rules for ([^.]*)\./.exec(tokens)?.[1] ?? '';
  expect(list.split(/,\s+|\s+and\s+/).map((name) => name.trim())).toEqual(names.sort());
});
