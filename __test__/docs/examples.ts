import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** The text of a page in docs/. */
export function page(name: string): Promise<string> {
  return readFile(join(root, 'docs', name), 'utf8');
}

/** A file of the source, which tables of the pages are compared with. */
export function source(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}

/** All fenced blocks of a page, with the words behind the fence. */
export function blocks(text: string): { kind: string; text: string }[] {
  return [...text.matchAll(/^ *```([^\n]*)\n(.*?)^ *```$/gms)].map(([, kind = '', block = '']) => ({
    kind,
    text: block,
  }));
}

/** The TypeScript examples of a page. */
export function examples(text: string): string[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
}

/** The output that the comments behind the `console.log` lines of an example give. */
export function promised(example: string): string[] {
  return [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1] ?? '');
}

/** An example as the ES module that Node runs. */
export function compiled(example: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(example, { compilerOptions }).outputText;
}

/** Runs an example in a process of its own, where the package is found by its name; gives the lines that it prints. */
export async function printed(example: string, temporary: string): Promise<string[]> {
  // The package is found from its own directory. Files of an example do not belong there.
  const source = `process.chdir(${JSON.stringify(temporary)});\n${compiled(example)}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: root,
    // Colours in what Node prints would not be what the page says.
    env: { ...process.env, TMPDIR: temporary, FORCE_COLOR: undefined, NO_COLOR: '1', NODE_OPTIONS: '' },
    timeout: 60_000,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

/** The cells of the table below a heading, without its head and with its code spans as they are. */
export function table(text: string, heading: string): string[][] {
  const rest = text.slice(text.indexOf(`\n## ${heading}\n`));
  const rows = /^\|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(rest)?.[1] ?? '';
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | '));
}

/** Wraps a paragraph at 120 columns, but never inside a code span. */
export function wrapped(text: string, indent = ''): string {
  const words = [...text.matchAll(/(?:(`+)(?!`).*?(?<!`)\1(?!`)|\S)+/g)].map(([word]) => word);
  const lines = [words.shift() ?? ''];
  for (const word of words) {
    const line = lines.at(-1) as string;
    if (line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

/** The code spans of a cell. */
export function spans(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}
