import { size } from '../base/format.ts';

/** A line of a hunk. A line with the sign `\` is a remark of git. */
export interface PatchLine {
  sign: ' ' | '+' | '-' | '\\';
  text: string;
}

/** Changed lines with those around them. */
export interface PatchHunk {
  /** The numbers of its first line in the project and in the draft. */
  old: number;
  new: number;
  lines: PatchLine[];
}

/** What a patch says of one file. */
export interface FilePatch {
  /** Remarks that are no lines of the file, such as its mode. */
  notes: string[];
  hunks: PatchHunk[];
}

const BINARY = /^# binary: (.+): ((?:nothing|\d+ bytes) → (?:nothing|\d+ bytes))$/;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const ESCAPES: Record<string, number> = { n: 10, t: 9, '"': 34, '\\': 92 };

/** Reads a patch of git. Returns its files by their paths in the draft, relative to its root. */
export function readPatch(patch: string): Map<string, FilePatch> {
  const files = new Map<string, FilePatch>();
  const lines = patch.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const starts = lines.flatMap((line, index) => (line.startsWith('diff --git ') ? [index] : []));
  for (const line of lines.slice(0, starts[0])) {
    const [, name, sizes] = BINARY.exec(line) ?? [];
    if (!name || !sizes) continue;
    const words = sizes.replace(/(\d+) bytes/g, (_, bytes) => size(Number(bytes)));
    files.set(unquoted(name), { notes: [`no text: ${words}`], hunks: [] });
  }
  for (const [index, start] of starts.entries()) {
    const { path, notes, hunks } = readFile(lines.slice(start, starts[index + 1]));
    // A link in the place of a file is two parts of the patch.
    const known = files.get(path);
    files.set(path, { notes: [...(known?.notes ?? []), ...notes], hunks: [...(known?.hunks ?? []), ...hunks] });
  }
  return files;
}

function readFile(lines: string[]): FilePatch & { path: string } {
  const hunks: PatchHunk[] = [];
  const notes: string[] = [];
  let path = pathOf(lines[0] ?? '');
  let mode = '';
  for (const line of lines.slice(1)) {
    const [, old, now] = HUNK.exec(line) ?? [];
    const hunk = hunks.at(-1);
    if (old && now) hunks.push({ old: Number(old), new: Number(now), lines: [] });
    else if (hunk) hunk.lines.push({ sign: line.charAt(0) as PatchLine['sign'], text: line.slice(1) });
    else if (line.startsWith('rename to ')) path = unquoted(line.slice('rename to '.length));
    else if (line.startsWith('old mode ')) mode = line.slice('old mode '.length);
    else if (line.startsWith('new mode ')) notes.push(`mode ${mode} → ${line.slice('new mode '.length)}`);
    else if (/^(new|deleted) file mode 120000$/.test(line)) notes.push('a symbolic link, whose line is its target');
  }
  return { path, notes, hunks };
}

/** Returns the path in the first line of a file's part, which has it twice unless the file was renamed. */
function pathOf(line: string): string {
  const names = line.slice('diff --git '.length);
  return unquoted(names.slice((names.length + 1) / 2)).replace(/^b\//, '');
}

/** Returns a path without the quotes that git puts around one with special bytes. */
function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  for (const [, octal, escaped, plain = ''] of name.slice(1, -1).matchAll(/\\(\d{3})|\\(.)|([^\\]+)/gu)) {
    if (octal) bytes.push(Number.parseInt(octal, 8));
    else if (escaped) bytes.push(ESCAPES[escaped] ?? 63);
    else bytes.push(...new TextEncoder().encode(plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
