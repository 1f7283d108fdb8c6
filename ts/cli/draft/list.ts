import { type DraftInfo, drafts } from 'agent-bash';
import { paint, print, printable, printJson, remark } from '../console.ts';
import { age } from '../values.ts';
import type { DraftFlags } from './open.ts';

const HEAD = ['ID', 'NAME', 'USED', 'RUNS', 'CHANGES', 'SIZE', 'DIRECTORY'];

/** `agent-bash draft list`: lists the drafts as a table or a JSON array. */
export async function list({ root, dir, json }: DraftFlags & { root?: string }): Promise<void> {
  const found = await drafts({ root, dir });
  if (json) return printJson(found);
  if (found.length === 0) return remark(`there are no drafts${root === undefined ? '' : ' of this directory'}`);
  const rows = [HEAD, ...found.map((info) => rowOf(info, Date.now()))];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const [index, row] of rows.entries()) {
    const line = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    await print(index === 0 ? paint('dim', line.join('  ')) : line.join('  '));
  }
}

function rowOf({ id, name, root, usedAt, runs, counts, bytes, state }: DraftInfo, now: number): string[] {
  const { created, modified, deleted, renamed } = counts;
  const changes = `+${created} ~${modified} -${deleted} >${renamed}`;
  return [
    id,
    printable(name ?? '-'),
    `${age(now - usedAt)} ago`,
    String(runs),
    state === 'committing' ? `${changes} (half committed)` : changes,
    sizeInWords(bytes),
    printable(root),
  ];
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a size on the disk: `12 KiB`, `3.4 GiB`. */
function sizeInWords(bytes: number): string {
  let [size, unit] = [bytes / 1_024, 0];
  while (size >= 1_024 && unit < UNITS.length - 1) [size, unit] = [size / 1_024, unit + 1];
  return `${unit === 0 || size >= 10 ? Math.ceil(size) : size.toFixed(1)} ${UNITS[unit]}`;
}
