import { createRequire } from 'node:module';
import * as entry from 'agent-bash/ai';
import { expect, it } from 'vitest';
import { loadedBy } from '../support/loaded.ts';

const EXPORTS = [
  'BASH_INSTRUCTIONS',
  'INTERCEPT_RULES',
  'SESSION_INSTRUCTIONS',
  'TERMINAL_INSTRUCTIONS',
  'backgroundNotices',
  'createBashTool',
  'createTerminalTool',
  'createToolApproval',
  'formatCheck',
  'formatResult',
];

it('is the same for import and require', () => {
  expect(Object.keys(entry).sort()).toEqual(EXPORTS);
  expect(Object.keys(createRequire(import.meta.url)('agent-bash/ai')).sort()).toEqual(EXPORTS);
});

it.each(['ai.mjs', 'ai.cjs'])('%s loads nothing but the main entry and Node', async (file) => {
  expect(await loadedBy(file)).toEqual([
    'agent-bash',
    'node:async_hooks',
    'node:crypto',
    'node:fs',
    'node:path',
    'node:vm',
  ]);
});

it.each([
  ['createBashTool', entry.createBashTool],
  ['createTerminalTool', entry.createTerminalTool],
  ['createToolApproval', entry.createToolApproval],
])('%s takes an object and nothing else: a list of rules would allow all', (_, make) => {
  for (const options of [null, '/work', 5, 5n, Symbol('x'), ['npm publish:*']]) {
    expect(() => make(options as never)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
  }
});
