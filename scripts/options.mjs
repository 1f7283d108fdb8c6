/**
 * Makes the interface and the checks of options in TypeScript from their schema: `npm run options`, after a change of
 * crates/runner/src/request/raw_options.rs.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMain, main, root, run, tool } from './process.mjs';

const SCHEMA = 'crates/runner/src/request/option_schema.json';
const MADE = '// Made from crates/runner/src/request/raw_options.rs by scripts/options.mjs: `npm run options`.';

/** The modules of the types and checks that the schema names, or that stand for its types. */
const TYPES = { Actor: '../ledger/types.ts', Truncate: '../output.ts' };
const CHECKS = { ACTOR: '../ledger/options.ts' };
for (const name of ['fields', 'flagOr', 'oneOf', 'path', 'ranged', 'strings', 'type', 'wholeNumber', 'wordOr']) {
  CHECKS[name] = '../core/checks.ts';
}
for (const name of ['INHERIT_ENV', 'RC_FILE', 'SHELL', 'TRUNCATE']) CHECKS[name] = '../option-checks.ts';

/** A schema without its reference and without null, which no option takes. */
function resolved(schema, defs) {
  const { $ref, anyOf, ...own } = schema;
  if ($ref) return { ...resolved(defs[nameOf($ref)], defs), ...own, name: nameOf($ref) };
  const others = anyOf?.filter(({ type }) => type !== 'null');
  if (others?.length === 1) return { ...resolved(others[0], defs), ...own };
  return schema;
}

const nameOf = (ref) => ref.split('/').at(-1);
const quoted = (words) => words.map((word) => `'${word}'`);
const isType = ({ type }, wanted) => type === wanted || (Array.isArray(type) && type.includes(wanted));

/** The words of an enum, in the order of its definition. */
function wordsOf({ enum: words, oneOf }) {
  return words ?? oneOf?.flatMap((each) => each.enum ?? [each.const]);
}

function typeOf(given, defs) {
  const schema = resolved(given, defs);
  const words = wordsOf(schema);
  if (schema['x-type']) return schema['x-type'];
  if (words) return quoted(words).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, defs)).join(' | ');
  if (schema.properties) return schema.name;
  if (isType(schema, 'array')) return `${typeOf(schema.items, defs)}[]`;
  return ['boolean', 'number', 'string'].find((type) => isType(schema, type));
}

function checkOf(given, defs) {
  const schema = resolved(given, defs);
  const words = wordsOf(schema);
  if (schema['x-check']) return schema['x-check'];
  if (words) return `oneOf(${quoted(words).join(', ')})`;
  if (schema.anyOf) {
    const [first, second] = schema.anyOf.map((each) => resolved(each, defs));
    const other = checkOf(second, defs);
    if (isType(first, 'boolean')) return `flagOr(${other})`;
    return `wordOr([${quoted(wordsOf(first)).join(', ')}], ${other})`;
  }
  if (schema.properties) return `fields<${schema.name}>(${checksOf(schema, defs)})`;
  if (isType(schema, 'array')) return 'strings';
  if (schema.minimum === undefined) return `type('${typeOf(given, defs)}')`;
  const most = schema.maximum === Number.MAX_SAFE_INTEGER ? '' : `, ${schema.maximum}`;
  return `ranged(${schema.minimum}${most})`;
}

/** The options of an object, in the order of their definition. */
function optionsOf({ properties, 'x-order': order }) {
  return order.filter((name) => properties[name]).map((name) => [name, properties[name]]);
}

function checksOf(schema, defs) {
  const rows = optionsOf(schema).map(([name, schema]) => `${name}: ${checkOf(schema, defs)},`);
  return `{ ${rows.join(' ')} }`;
}

const grouped = (number, separator) => String(number).replace(/\B(?=(\d{3})+$)/g, separator);

/** The sentence on the range of a number, if it has one. */
function rangeOf({ minimum, maximum }) {
  if (minimum === undefined) return '';
  const bounds =
    maximum === Number.MAX_SAFE_INTEGER
      ? `of at least ${grouped(minimum, ',')}`
      : `from ${grouped(minimum, ',')} to ${grouped(maximum, ',')}`;
  return ` A whole number ${bounds}.`;
}

const UNITS = {
  Bytes: [
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
  ],
  Ms: [
    [86_400_000, 'days'],
    [3_600_000, 'h'],
  ],
};

/** A default as code, with its size in a larger unit. */
function defaultOf(name, value) {
  const units = UNITS[/(Bytes|Ms)$/.exec(name)?.[1]] ?? [];
  const [unit, word] = units.find(([unit]) => value >= unit) ?? [];
  return `@default ${grouped(value, '_')}${unit ? ` (${value / unit} ${word})` : ''}`;
}

/** The comment of an option: its description with its range and its default. */
function documentation(name, schema) {
  const [first, ...others] = schema.description.split('\n\n');
  const tags = others.pop();
  const value =
    typeof schema.default === 'number' && !tags.includes('@default') ? `${defaultOf(name, schema.default)}\n` : '';
  return [first + rangeOf(schema), ...others, value + tags].join('\n\n');
}

/** Wraps a paragraph. Tags stay as they are. */
function wrapped(text, columns) {
  if (text.startsWith('@')) return text.split('\n');
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== '' && last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`.trim();
  }
  return lines;
}

function comment(text, indent) {
  const columns = 120 - indent.length - 3;
  const lines = text
    .split('\n\n')
    .flatMap((paragraph, at) => [...(at > 0 ? [''] : []), ...wrapped(paragraph, columns)]);
  if (lines.length === 1) return `${indent}/** ${lines[0]} */`;
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
}

function interfaceOf(name, object, defs) {
  const members = optionsOf(object).map(([option, schema]) => {
    return `${comment(documentation(option, schema), '  ')}\n  ${option}?: ${typeOf(schema, defs)} | undefined;\n`;
  });
  return `${comment(object.description, '')}\nexport interface ${name} {\n${members.join('')}}\n`;
}

/** The imports of those names that a text uses. */
function importsFor(text, modules, keyword = '') {
  const used = Object.entries(modules).filter(([name]) => new RegExp(`\\b${name}\\b`).test(text));
  const files = [...new Set(used.map(([, file]) => file))].sort();
  return files.map((file) => {
    const names = used.filter((each) => each[1] === file).map(([name]) => name);
    return `import ${keyword}{ ${names.sort().join(', ')} } from '${file}';`;
  });
}

/** The files that are made, by path. */
async function made() {
  const schema = JSON.parse(await readFile(join(root, SCHEMA), 'utf8'));
  const objects = Object.entries(schema.$defs).filter(([, object]) => object['x-order']);
  const all = { ...schema, description: 'Options that cross to the addon as they are.' };
  const types = [interfaceOf('NativeOptions', all, schema.$defs)]
    .concat(objects.map(([name, object]) => interfaceOf(name, object, schema.$defs)))
    .join('\n');
  const checks = `/** The check of each option. */
export const NATIVE_CHECKS: Checks<NativeOptions> = ${checksOf(schema, schema.$defs)};\n`;
  const named = ['NativeOptions', ...objects.map(([name]) => name)].filter((name) => checks.includes(`<${name}>`));
  const imports = [
    ...importsFor(checks, CHECKS),
    "import type { Checks } from '../core/checks.ts';",
    `import type { ${named.join(', ')} } from './types.ts';`,
  ];
  return {
    'ts/schema/types.ts': [MADE, ...importsFor(types, TYPES, 'type '), '', types].join('\n'),
    'ts/schema/checks.ts': [MADE, ...imports, '', checks].join('\n'),
  };
}

/** Writes the files. */
export async function makeOptions() {
  const files = Object.entries(await made());
  for (const [path, text] of files) await writeFile(join(root, path), text);
  await run(tool('biome'), ['check', '--write', '--colors=off', ...files.map(([path]) => path)], { output: 'keep' });
}

if (process.argv[1] && isMain(import.meta)) await main(makeOptions);
