import { createRequire } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from './packed.ts';

const require = createRequire(import.meta.url);

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

test.each([
  ['agent-bash', 'index.d.ts'],
  ['agent-bash', 'dist/index.d.cts'],
  ['agent-bash/ai', 'dist/ai.d.mts'],
  ['agent-bash/ai', 'dist/ai.d.cts'],
  ['agent-bash/sandbox', 'dist/sandbox.d.mts'],
  ['agent-bash/sandbox', 'dist/sandbox.d.cts'],
])('%s exports what %s declares, and nothing else', (entry, file) => {
  expect(Object.keys(require(entry)).sort()).toEqual(declaredValues(join(root, file)));
});
