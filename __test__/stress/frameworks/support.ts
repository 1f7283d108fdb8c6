import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compiled, examples, page } from '../../docs/examples.ts';
import { finished } from '../../support/index.ts';

/**
 * Runs the examples of a page beside the modules that they import from files, and returns the lines that each prints.
 * The frameworks and this package are found by their names.
 */
export async function printedByPage(name: string, modules: Record<string, string>): Promise<string[][]> {
  const folder = await mkdtemp(join(import.meta.dirname, 'example-'));
  finished(() => rm(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(modules)) await writeFile(join(folder, file), compiled(text));
  const printed: string[][] = [];
  for (const [at, example] of examples(await page(name)).entries()) {
    const file = join(folder, `example-${at}.mjs`);
    await writeFile(file, compiled(example));
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }, timeout: 60_000 };
    const { stdout } = await promisify(execFile)(process.execPath, [file], options);
    printed.push(stdout.split('\n').filter((line) => line !== ''));
  }
  return printed;
}
