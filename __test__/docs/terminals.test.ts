import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { createTerminalTool } from 'agent-bash/ai';
import { expect, test } from 'vitest';
import { KEYS } from '../../ts/tool/terminal/keys.ts';
import { page, spans, table, wrapped } from './examples.ts';

const LIST = /(<!-- keys:.*?-->\n\n).*?(\n\n<!-- end -->)/s;
const file = join(import.meta.dirname, '../../docs/terminals.md');

// After a change of the keys: UPDATE_DOCS=1 npm test -- docs/terminals
if (process.env.UPDATE_DOCS === '1') {
  const keys = Object.keys(KEYS).map((key) => `\`${key}\``);
  await writeFile(file, (await readFile(file, 'utf8')).replace(LIST, `$1${wrapped(keys.join(', '))}$2`));
}

const terminals = await page('terminals.md');

test('the table of members has each of them', () => {
  const named = table(terminals, 'PtySession').flatMap(([cell = '']) => spans(cell).map((span) => span.split('(')[0]));
  const members = Object.getOwnPropertyNames(PtySession.prototype).filter((name) => name !== 'constructor');
  expect([...new Set(named)].sort()).toEqual(members.sort());
});

test('the table of actions has each of them, with its input', () => {
  const schema = createTerminalTool({ onAccess: () => false }).inputSchema['~standard'].jsonSchema.input({
    target: 'draft-07',
  });
  const { action, ...fields } = schema.properties as Record<string, { enum?: string[] }>;
  const rows = table(terminals, 'For models');
  expect(rows.map(([cell = '']) => spans(cell)[0])).toEqual(action?.enum);
  const named = new Set(rows.flatMap(([, cell = '']) => spans(cell)));
  expect([...named, 'id', 'changed'].sort()).toEqual(Object.keys(fields).sort());
});

test('the list of keys is that of the source', () => {
  expect(spans(LIST.exec(terminals)?.[0] ?? '')).toEqual(Object.keys(KEYS));
});
