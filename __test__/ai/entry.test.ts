import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as entry from 'agent-bash/ai';
import { expect, it } from 'vitest';

const EXPORTS = [
  'BASH_INSTRUCTIONS',
  'INTERCEPT_RULES',
  'SESSION_INSTRUCTIONS',
  'backgroundNotices',
  'createBashTool',
  'createToolApproval',
  'formatCheck',
  'formatResult',
];

it('is the same for import and require', () => {
  expect(Object.keys(entry).sort()).toEqual(EXPORTS);
  expect(Object.keys(createRequire(import.meta.url)('agent-bash/ai')).sort()).toEqual(EXPORTS);
});

it.each(['ai.mjs', 'ai.cjs'])('%s loads nothing but the main entry and Node', async (file) => {
  const built = await readFile(join(import.meta.dirname, '../../dist', file), 'utf8');
  const loaded = [...built.matchAll(/(?:from|require\(|import\()\s*["']([^"']+)["']/g)].map((match) => match[1]);
  expect([...new Set(loaded)].sort()).toEqual(['agent-bash', 'node:fs', 'node:path']);
});
