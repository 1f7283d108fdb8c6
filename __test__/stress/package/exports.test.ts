import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from './packed.ts';

const require = createRequire(import.meta.url);

interface Pair {
  types: string;
  default: string;
}
type Target = string | Pair | Record<string, Pair>;

/** The conditions of an entry with their targets. A plain file is not a module of ours. */
function targets(target: Target): [string, Pair][] {
  if (typeof target === 'string') return [];
  if (typeof target.default === 'string') return [['both', target as Pair]];
  return Object.entries(target as Record<string, Pair>);
}

/** The names a declaration file exports that exist at run time. */
function declaredValues(file: string): string[] {
  const program = ts.createProgram([file], { module: ts.ModuleKind.NodeNext, noEmit: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module`);
  return checker
    .getExportsOfModule(module)
    .filter((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return target.flags & ts.SymbolFlags.Value;
    })
    .map((symbol) => symbol.name)
    .sort();
}

const { exports, types } = require('agent-bash/package.json');

/** Each entry's module at run time, and its types, under every condition. */
const pairs = Object.entries<Target>(exports).flatMap(([path, target]) =>
  targets(target).map(([condition, { types, default: file }]) => ({
    entry: path.replace('.', 'agent-bash'),
    condition,
    types,
    file,
  })),
);

test.each(pairs)('$entry ($condition) exports what $types declares, and nothing else', async ({ types, file }) => {
  const loaded = file.endsWith('.cjs') ? require(join(root, file)) : await import(pathToFileURL(join(root, file)).href);
  expect(Object.keys(loaded).sort()).toEqual(declaredValues(join(root, types)));
});

// An ES module beside types of CommonJS, or the other way round, compiles and fails when it runs.
test.each(pairs)('$entry ($condition) and $types are of one module system', ({ types, file }) => {
  expect([types, file].map((name) => /\.(?:d\.)?(\w)[jt]s$/.exec(name)?.[1])).toEqual(
    file.endsWith('.cjs') ? ['c', 'c'] : ['m', 'm'],
  );
});

test('compilers that know no exports read the same types', () => {
  expect(types).toBe(exports['.'].types);
});

test('index.d.ts, the checked-in contract, says what the main entry is', () => {
  expect(declaredValues(join(root, 'index.d.ts'))).toEqual(Object.keys(require('agent-bash')).sort());
});
