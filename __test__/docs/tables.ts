import { source } from './examples.ts';

/** Tables of docs/environment.md, made of the data that they speak of. */
export interface Tables {
  names: string;
  harmless: string;
  shapes: string;
  host: string;
  untrue: string;
  defaults: string;
  other: string;
}

export interface NameRow {
  pattern: string;
  says: string;
  example: string;
}

export interface Default {
  name: string;
  /** null: an inherited one is taken away. */
  value: string | null;
  unless: string[];
  /** In a terminal, too. */
  always: boolean;
  why: string;
}

const STRING = '"((?:[^"\\\\]|\\\\.)*)"';

function block(text: string, start: string): string {
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`not in the source: ${start}`);
  return text.slice(from, text.indexOf('\n];', from));
}

function rows(text: string, pattern: string): string[][] {
  return [...text.matchAll(new RegExp(pattern, 'g'))].map((match) => match.slice(1).map((group) => group ?? ''));
}

const words = (list: string) => rows(list, STRING).map(([word]) => word ?? '');
const code = (text: string) => `\`${text}\``;
const lines = (head: string[], body: string[][]) =>
  [head, head.map(() => '---'), ...body]
    .map((row, at) => (at === 1 ? `|${row.join('|')}|` : `| ${row.join(' | ')} |`))
    .join('\n');

export async function names(): Promise<NameRow[]> {
  const text = block(await source('src/plan/secrets.rs'), 'const NAMES:');
  return rows(text, `\\(${STRING}, (\\w+), ${STRING}\\)`).map(([pattern = '', says = '', example = '']) => ({
    pattern,
    says,
    example,
  }));
}

export async function harmless(): Promise<{ pattern: string; example: string }[]> {
  const text = block(await source('src/plan/secrets.rs'), 'const HARMLESS:');
  return rows(text, `\\(${STRING}, ${STRING}\\)`).map(([pattern = '', example = '']) => ({ pattern, example }));
}

export async function defaults(): Promise<Default[]> {
  const text = block(await source('src/plan/unattended.rs'), 'pub(super) const DEFAULTS:');
  const each = `(?:(set|always)\\(${STRING}, ${STRING}, ${STRING}\\)|gone\\(${STRING}, ${STRING}\\)|Default \\{\\s*name: ${STRING},\\s*value: Some\\(${STRING}\\),\\s*unless: &\\[([^\\]]*)\\],\\s*always: false,\\s*why: ${STRING},?\\s*\\})`;
  return rows(text, each).map(([kind, set, value, why, gone, whyGone, name, named, unless, whyNamed]) => {
    const always = kind === 'always';
    if (set) return { name: set, value: value ?? '', unless: [], always, why: why ?? '' };
    if (gone) return { name: gone, value: null, unless: [], always, why: whyGone ?? '' };
    return { name: name ?? '', value: named ?? '', unless: words(unless ?? ''), always, why: whyNamed ?? '' };
  });
}

async function host(): Promise<string> {
  const text = block(await source('src/plan/host.rs'), 'const ROWS:');
  const each = `(?:row\\(${STRING}, ${STRING}\\)|holding\\(\\s*${STRING},\\s*&\\[([^\\]]*)\\],\\s*${STRING},?\\s*\\))`;
  return lines(
    ['variable', 'why'],
    rows(text, each).map(([name, why, held, holding, whyHeld]) => {
      if (name) return [code(name), why ?? ''];
      const parts = words(holding ?? '').map((part) => code(part.trim()));
      return [code(held ?? ''), `where it holds ${parts.join(', ')}: ${whyHeld}`];
    }),
  );
}

async function shapes(): Promise<string> {
  const text = block(await source('src/plan/secrets.rs'), 'const SHAPES:');
  const rest: Record<string, string> = {
    Alnum: 'letters and digits',
    Hex: 'hexadecimal digits',
    Capitals: 'capitals and digits',
    Word: 'letters, digits, `_`, `-`',
    Dotted: 'letters, digits, `_`, `-`, `.`',
    Any: 'anything but white space, quotes, `;` and `&`',
  };
  return lines(
    ['begins with', 'and goes on with'],
    rows(text, `(shape|exact)\\(${STRING}, Rest::(\\w+), (\\d+)\\)`).map(([kind, lead = '', set = '', min]) => [
      code(lead),
      `${min}${kind === 'exact' ? '' : ' or more'}: ${rest[set]}`,
    ]),
  );
}

async function list(name: string): Promise<string> {
  const text = new RegExp(`const ${name}: .*?=\\s*\\[(.*?)\\];`, 's').exec(await source('src/plan/host.rs'))?.[1] ?? '';
  return words(text).map(code).join(', ');
}

export async function tables(): Promise<Tables> {
  const says: Record<string, string> = {
    Always: 'always',
    Usually: 'unless the name is one of the harmless',
    Maybe: 'the same, and unless the value is a switch, a path, or shorter than 2 characters',
  };
  return {
    names: lines(
      ['name', 'withheld', 'for example'],
      (await names()).map((row) => [code(row.pattern), says[row.says] ?? '', code(row.example)]),
    ),
    harmless: (await harmless()).map(({ pattern }) => code(pattern)).join(', '),
    shapes: await shapes(),
    host: await host(),
    untrue: await list('UNTRUE'),
    other: await list('OTHER_TERMINAL'),
    defaults: lines(
      ['variable', 'value', 'in a terminal', 'why'],
      (await defaults()).map(({ name, value, unless, always, why }) => [
        code(name),
        value === null ? 'taken away' : value === '' ? 'empty' : code(value),
        always ? 'too' : '',
        unless.length === 0 ? why : `${why}; not where \`env\` sets ${unless.map(code).join(' or ')}`,
      ]),
    ),
  };
}
