import { paint, print } from '../console.ts';

/** Prints a table below its heading. The last column is as wide as it needs. */
export async function printTable(head: readonly string[], rows: readonly (readonly string[])[]): Promise<void> {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  for (const [index, row] of lines.entries()) {
    const line = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    await print(index === 0 ? paint('dim', line.join('  ')) : line.join('  '));
  }
}
