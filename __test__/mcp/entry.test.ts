import { createRequire } from 'node:module';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import * as entry from 'agent-bash/mcp';
import { expect, test } from 'vitest';
import { loadedBy } from '../support/loaded.ts';

test('is the same for import and require', () => {
  expect(Object.keys(entry)).toEqual(['registerBashTools']);
  expect(Object.keys(createRequire(import.meta.url)('agent-bash/mcp'))).toEqual(['registerBashTools']);
});

test.each(['mcp.mjs', 'mcp.cjs'])('%s loads nothing but this package and Node', async (file) => {
  const parts = ['agent-bash', 'agent-bash/ai', 'node:fs/promises', 'node:path', 'node:url'];
  expect(await loadedBy(file)).toEqual(parts);
});

test.each([[null], ['/work'], [5]])('%j in the place of options is thrown at once', (options) => {
  const server = new McpServer({ name: 'mine', version: '1.0.0' });
  expect(() => entry.registerBashTools(server, options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
  );
});
