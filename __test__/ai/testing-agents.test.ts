import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiled, examples, page } from '../docs/examples.ts';

// Below the package and of this run, so that its entries are found as a reader of the page finds them; ignored by git.
const folder = join(import.meta.dirname, `../../.stamp/docs-testing-agents-${process.pid}`);
const [model = '', ...tests] = examples(await page('testing-agents.md'));

const forSeven = (block: string) =>
  compiled(block)
    .replaceAll(/from 'ai(\/test)?'/g, "from 'ai7$1'")
    .replaceAll('./model.ts', './model.mjs');

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'model.mjs'), forSeven(model));
});
afterAll(() => rm(folder, { recursive: true }));

describe('docs/testing-agents.md', () => {
  test('it has a model and two tests', () => {
    expect(model).toContain('export function scripted');
    expect(tests).toHaveLength(2);
  });

  test.each(tests.map((block, index) => ({ block, number: index + 1 })))(
    'test $number passes',
    async ({ block, number }) => {
      const file = join(folder, `${number}.test.mjs`);
      await writeFile(file, forSeven(block));
      // A test of a test runner says so to the runner below it, which then reports to its parent alone.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const run = promisify(execFile)(process.execPath, ['--test', file], { env, timeout: 60_000 });
      const { stdout } = await run.catch((error) => error);
      expect(stdout).toMatch(/^(# |ℹ )pass 1$/m);
      expect(stdout).toMatch(/^(# |ℹ )fail 0$/m);
    },
  );
});
