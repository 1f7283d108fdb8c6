import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { source } from './examples.ts';

/** Every source file of the package that declares public types. */
const files = readdirSync('ts', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.startsWith('cli'),
);

interface Option {
  /** The name with its type: `BashOptions.cwd`. */
  name: string;
  optional: boolean;
  type: string;
  text: string;
  tags: string[];
}

/** Returns the options that each exported interface or type declares. */
function optionsIn(text: string): Option[] {
  const file = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((statement) => {
    const named = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) ? statement : null;
    if (!named || !/(Options|Limits|DecideRules|Params|Setting|InterceptRule|^Truncate)$/.test(named.name.text))
      return [];
    if (!named.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (named.name.text === 'BashToolExecutionOptions') return [];
    return membersOf(named).map((member) => {
      const tags = ts.getJSDocTags(member);
      return {
        name: `${named.name.text}.${member.name.getText(file)}`,
        optional: member.questionToken !== undefined,
        type: member.type?.getText(file) ?? '',
        text:
          ts.getJSDocCommentsAndTags(member).map((comment) => ts.getTextOfJSDocComment(comment.comment) ?? '')[0] ?? '',
        tags: tags.map(({ tagName }) => tagName.text),
      };
    });
  });
}

/** The properties that a declaration writes itself, in each member of a union or an intersection. */
function membersOf(node: ts.Node): ts.PropertySignature[] {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node)) return node.members.filter(ts.isPropertySignature);
  if (ts.isTypeAliasDeclaration(node)) return membersOf(node.type);
  if (ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node)) return node.types.flatMap(membersOf);
  return [];
}

const options = (await Promise.all(files.map((file) => source(join('ts', file))))).flatMap(optionsIn);

test('every option has a sentence on its effect, and one example', () => {
  expect(options.length).toBeGreaterThan(100);
  const lacking = options.filter(
    ({ text, tags }) => text === '' || tags.filter((tag) => tag === 'example').length !== 1,
  );
  expect(lacking.map(({ name }) => name)).toEqual([]);
});

test('every option that may be left out has its default', () => {
  const lacking = options.filter(
    ({ optional, tags }) => optional !== (tags.filter((tag) => tag === 'default').length === 1),
  );
  expect(lacking.map(({ name }) => name)).toEqual([]);
});

test('undefined counts as left out in every option that may be', () => {
  const lacking = options.filter(({ optional, type }) => optional && !/\| undefined$/.test(type));
  expect(lacking.map(({ name }) => name)).toEqual([]);
});
