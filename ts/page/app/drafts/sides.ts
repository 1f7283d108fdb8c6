import type { PageDraftFile } from '../../wire.ts';
import type { Context } from '../base/context.ts';
import { h } from '../base/dom.ts';
import { size } from '../base/format.ts';
import { diffLines, diffSides } from './diff.ts';
import { type FilePatch, readPatch } from './patch.ts';

/** How a file is shown: its changed lines, or the project beside the draft. */
export type FileShape = 'lines' | 'sides';

/** Reads one changed path of a draft and makes its element. A failure is shown in its place. */
export async function loadFile(context: Context, draft: string, path: string, shape: FileShape): Promise<HTMLElement> {
  try {
    const file = await context.server.get<PageDraftFile>('draft-file', { draft, path });
    return fileElement(file, shape);
  } catch (error) {
    return h('p', { class: 'say' }, `This cannot be shown: ${(error as Error).message}.`);
  }
}

/** Makes the element of a file whose patch is known. */
export function patchElement(patch: FilePatch, shape: FileShape): HTMLElement {
  return shape === 'sides' ? diffSides(patch) : diffLines(patch);
}

function fileElement({ change, patch }: PageDraftFile, shape: FileShape): HTMLElement {
  // The patch is of one path.
  const [file] = readPatch(patch).values();
  if (file && file.hunks.length + file.notes.length > 0) return patchElement(file, shape);
  return h('p', { class: 'say' }, `${bareWords(change)} There are no lines to compare.`);
}

function bareWords(change: PageDraftFile['change']): string {
  if (!change) return 'This is a part of a repository.';
  const { type, bytes, bytesBefore } = change;
  if (type === 'directory') return 'This is a directory.';
  const of = (bytes: number | null) => (bytes === null ? 'nothing' : size(bytes));
  return `The project has ${of(bytesBefore)}, this draft ${of(bytes)}.`;
}
