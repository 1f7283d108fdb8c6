import { relative } from 'node:path';
import type { DraftChanges } from 'agent-bash';
import { visible } from '../../core/visible.ts';
import { type Colour, paint, print, printable, printJson, remark, wantsColour, write } from '../console.ts';
import { type PathFlags, pathsOf, withDraft } from './open.ts';

/** The most paths of each list, and bytes of a patch. */
const MOST = 10_000;
const MOST_BYTES = 64 * 1024 ** 2;

/** `agent-bash draft changes ID`: lists what a draft has changed, one line per path, or as JSON. */
export async function changes(name: string, flags: PathFlags): Promise<void> {
  const paths = pathsOf(flags);
  await withDraft(name, flags, async (draft) => {
    const found = await draft.changes({ ...paths, list: MOST });
    if (flags.json) return printJson(found);
    const lines = linesOf(found, draft.root);
    if (lines.length === 0) return remark('nothing was changed');
    for (const line of lines) await print(line);
  });
}

function linesOf({ created, modified, deleted, renamed, counts, conflicts }: DraftChanges, root: string): string[] {
  const shown = (path: string) => relative(root, path);
  const paths = (list: { path: string }[]) => list.map(({ path }) => shown(path));
  const moves = renamed.map(({ from, to }) => `${shown(from)} → ${shown(to)}`);
  const kinds: [word: string, colour: Colour, texts: string[], count: number][] = [
    ['created', 'green', paths(created), counts.created],
    ['modified', 'yellow', paths(modified), counts.modified],
    ['deleted', 'red', paths(deleted), counts.deleted],
    ['renamed', 'yellow', moves, counts.renamed],
    ['conflict', 'red', conflicts.map(({ path, why }) => `${shown(path)}: ${why}`), conflicts.length],
  ];
  return kinds.flatMap(([word, colour, texts, count]) => [
    ...texts.map((text) => `${paint(colour, word.padEnd(8))}  ${printable(text)}`),
    ...(count > texts.length ? [`${paint(colour, word.padEnd(8))}  … ${count - texts.length} more`] : []),
  ]);
}

/** `agent-bash draft diff ID`: prints the changes as a patch, in colours on a terminal. */
export async function diff(name: string, flags: PathFlags): Promise<void> {
  const paths = pathsOf(flags);
  await withDraft(name, flags, async (draft) => {
    const patch = await draft.diff({ ...paths, maxBytes: MOST_BYTES });
    // A file may contain what a terminal would obey.
    await write(process.stdout, painted(process.stdout.isTTY ? visible(patch) : patch));
  });
}

function painted(patch: string): string {
  if (!wantsColour()) return patch;
  let isHead = true;
  const colourOf = (line: string): Colour | undefined => {
    if (line.startsWith('diff --git ')) isHead = true;
    else if (line.startsWith('@@ ')) isHead = false;
    else if (!isHead) return BY_MARK[line[0] ?? ''];
    return isHead ? 'dim' : 'cyan';
  };
  const lines = patch.split('\n').map((line) => {
    const colour = colourOf(line);
    return line === '' || colour === undefined ? line : paint(colour, line);
  });
  return lines.join('\n');
}

const BY_MARK: Record<string, Colour> = { '+': 'green', '-': 'red' };
