import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from './packed.ts';

const tests = ts.sys
  .readDirectory(join(root, '__test__'), ['.ts'], undefined, ['**/*.test-d.ts'])
  .map((file) => file.slice(root.length + 1));

/** Returns the compiler's messages about the type tests. */
function complaints(options: ts.CompilerOptions): string[] {
  const file = join(root, 'tsconfig.json');
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: tests }, ts.sys, root);
  const program = ts.createProgram(parsed.fileNames, { ...parsed.options, ...options });
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1}` : '';
    return `${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

test('there are type tests for every entry', () => {
  const texts = tests.map((file) => ts.sys.readFile(join(root, file)) ?? '').join('\n');
  const entries = [
    'agent-bash',
    ...['ai', 'anthropic', 'mcp', 'openai', 'otel', 'page', 'render', 'sandbox'].map((one) => `agent-bash/${one}`),
  ];
  expect(entries.filter((entry) => !texts.includes(`from '${entry}'`))).toEqual([]);
});

test.each([true, false])(
  'type tests compile with exactOptionalPropertyTypes: %s',
  (exactOptionalPropertyTypes) => {
    expect(complaints({ exactOptionalPropertyTypes })).toEqual([]);
  },
  300_000,
);
