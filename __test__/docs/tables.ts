import { facts } from './built.ts';
import { wrapped } from './examples.ts';

/** Tables of docs/environment.md, made of the data that they speak of. */
export interface Tables {
  names: string;
  harmless: string;
  shapes: string;
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

function host(): string {
  return lines(
    ['variable', 'why'],
    environment.host.map(({ name, holding, why }) => {
      if (holding.length === 0) return [code(name), why];
      return [code(name), `where it holds ${holding.map((part) => code(part.trim())).join(', ')}: ${why}`];
    }),
  );
}

function shapes(): string {
  const vendors = [...new Set(environment.shapes.map(({ vendor }) => vendor))];
  const known = (vendor: string) => environment.shapes.filter((row) => row.vendor === vendor).map((row) => row.begins);
  return lines(
    ['of', 'known by'],
    vendors.map((vendor) => [vendor, [...new Set(known(vendor))].map(code).join(', ')]),
  );
}

/** The generated parts of docs/environment.md, by their names there. */
export function tables(): Tables {
  const says = {
    always: 'always',
    usually: 'unless the name is one of the harmless',
    maybe: 'the same, and unless the value is a switch, a path, or shorter than 2 characters',
  };
  return {
    names: lines(
      ['name', 'withheld', 'for example'],
      environment.secretNames.map((row) => [code(row.pattern), says[row.says], code(row.example)]),
    ),
    harmless: list(environment.harmless.map(({ pattern }) => pattern)),
    shapes: shapes(),
    fields: list(environment.fields),
    host: host(),
    untrue: list(environment.untrue),
    other: list(environment.otherTerminal),
    defaults: lines(
      ['variable', 'value', 'in a terminal', 'why'],
      environment.defaults.map(({ name, value, unless, always, why }) => [
        code(name),
        value === null ? 'taken away' : value === '' ? 'empty' : code(value),
        always ? 'too' : '',
        unless.length === 0 ? why : `${why}; not where \`env\` sets ${unless.map(code).join(' or ')}`,
      ]),
    ),
  };
}
