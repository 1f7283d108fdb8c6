import { facts, type NameRow } from './built.ts';
import { wrapped } from './examples.ts';

/** Lists of docs/environment.md, made of the data that they speak of. */
export interface Tables {
  names: string;
  harmless: string;
  fields: string;
  host: string;
  untrue: string;
  defaults: string;
  other: string;
}

const { environment } = facts;

export const code = (text: string) => `\`${text}\``;
const list = (names: string[]) => wrapped(names.map(code).join(', '));
export const lines = (head: string[], body: string[][]) =>
  [head, head.map(() => '---'), ...body]
    .map((row, at) => (at === 1 ? `|${row.join('|')}|` : `| ${row.join(' | ')} |`))
    .join('\n');

/** The rows by a key of each, in the order in which the keys come first. */
function grouped<Row>(rows: Row[], key: (row: Row) => string): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups];
}

/** Makes one point of a list for each of the words, with the rows that they apply to. */
function points<Row>(words: [string, Row[]][], shown: (row: Row) => string): string {
  return words.map(([says, rows]) => wrapped(`- ${says}: ${rows.map(shown).join(', ')}`, '  ')).join('\n');
}

function host(): string {
  const held = grouped(environment.host, ({ holding }) => holding.map((part) => code(part.trim())).join(', '));
  return points(
    held.map(([parts, rows]) => [parts === '' ? 'Always' : `If they hold ${parts}`, rows]),
    ({ name }) => code(name),
  );
}

function names(): string {
  const says: Record<NameRow['says'], string> = {
    always: 'Always',
    usually: 'Unless the name is harmless',
    maybe: 'Unless the name is harmless, or the value is a switch, a path, or shorter than 2 characters',
  };
  return points(
    grouped(environment.secretNames, (row) => says[row.says]),
    ({ pattern }) => code(pattern),
  );
}

function defaults(): string {
  const shown = ({ name, unless }: (typeof environment.defaults)[number]) =>
    unless.length === 0 ? code(name) : `${code(name)} (not if \`env\` sets ${unless.map(code).join(' or ')})`;
  const words = ({ value, always }: (typeof environment.defaults)[number]) =>
    `${value === null ? 'Removed' : value === '' ? 'Empty' : code(value)}${always ? ', in a terminal too' : ''}`;
  return points(grouped(environment.defaults, words), shown);
}

/** The generated parts of docs/environment.md, by their names there. */
export function tables(): Tables {
  return {
    names: names(),
    harmless: list(environment.harmless.map(({ pattern }) => pattern)),
    fields: list(environment.fields),
    host: host(),
    untrue: list(environment.untrue),
    other: list(environment.otherTerminal),
    defaults: defaults(),
  };
}
