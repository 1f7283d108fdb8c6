import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { page } from './examples.ts';

const place = (table: string) => new RegExp(`(<!-- ${table}: [^\n]* -->\n\n)(.*?)(\n\n<!-- end -->)`, 's');

/**
 * Compares the generated parts of a page with the data that they come from. `UPDATE_DOCS=1 npm test -- docs` writes
 * them again.
 */
export async function generated(name: string, tables: object): Promise<void> {
  const expected: [string, string][] = Object.entries(tables);
  if (process.env.UPDATE_DOCS === '1') {
    let text = await page(name);
    for (const [table, rows] of expected) text = text.replace(place(table), (_, start, __, end) => start + rows + end);
    await writeFile(join(import.meta.dirname, '../../docs', name), text);
  }
  test.each(expected)(`${name} has the %s of the source`, async (table, rows) => {
    expect(place(table).exec(await page(name))?.[2]).toBe(rows);
  });
}
