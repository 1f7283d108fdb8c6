import { type DraftInfo, drafts } from 'agent-bash';
import { printable, printJson, remark } from '../console.ts';
import { age } from '../values.ts';
import type { DraftFlags } from './open.ts';
import { briefCounts } from './summary.ts';
import { printTable } from './table.ts';

const HEAD = ['ID', 'NAME', 'USED', 'RUNS', 'CHANGES', 'SIZE', 'DIRECTORY'];

/** `agent-bash draft list`: lists the drafts as a table or a JSON array. */
export async function list({ root, dir, json }: DraftFlags & { root?: string }): Promise<void> {
  const found = await drafts({ root, dir });
  if (json) return printJson(found);
  if (found.length === 0) return remark(`there are no drafts${root === undefined ? '' : ' of this directory'}`);
  const now = Date.now();
  await printTable(
    HEAD,
    found.map((info) => rowOf(info, now)),
  );
}

function rowOf({ id, name, root, usedAt, runs, counts, bytes, state }: DraftInfo, now: number): string[] {
  const changes = briefCounts(counts);
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
