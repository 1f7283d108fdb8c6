import { createRequire } from 'node:module';
import type { BashSession } from 'agent-bash';
import * as anthropic from 'agent-bash/anthropic';
import * as openai from 'agent-bash/openai';
import { describe, expect, it } from 'vitest';
import { loadedBy } from '../support/loaded.ts';

const require = createRequire(import.meta.url);

it.each([
  ['agent-bash/anthropic', anthropic, ['anthropicBash']],
  ['agent-bash/openai', openai, ['agentsShell', 'openaiLocalShell', 'openaiShell']],
])('%s is the same for import and require', (name, entry, names) => {
  expect(Object.keys(entry).sort()).toEqual(names);
  expect(Object.keys(require(name)).sort()).toEqual(names);
});

it.each(['anthropic.mjs', 'anthropic.cjs', 'openai.mjs', 'openai.cjs'])(
  '%s loads nothing of a provider',
  async (file) => {
    for (const name of await loadedBy(file)) expect(name).toMatch(/^(agent-bash$|node:)/);
  },
);

describe.each([
  ['anthropicBash', anthropic.anthropicBash, 'anthropic.bash_20250124'],
  ['openaiShell', openai.openaiShell, 'openai.shell'],
  ['openaiLocalShell', openai.openaiLocalShell, 'openai.local_shell'],
])('%s', (_, make, id) => {
  it('has all that both majors ask of a provider tool, and no description', () => {
    const tool = make({ description: 'mine' });
    expect(tool).toMatchObject({ type: 'provider', id, args: {}, isProviderExecuted: false });
    expect(tool).not.toHaveProperty('description');
    const { jsonSchema } = tool.inputSchema['~standard'];
    expect(jsonSchema.input({ target: 'draft-07' })).toMatchObject({ type: 'object', additionalProperties: false });
    expect(jsonSchema.input({ target: 'draft-07' })).not.toBe(jsonSchema.input({ target: 'draft-07' }));
    expect(() => jsonSchema.input({ target: 'openapi-3.0' })).toThrow('agent-bash gives JSON Schema drafts');
  });
});

describe.each([
  ['anthropicBash', anthropic.anthropicBash],
  ['openaiShell', openai.openaiShell],
  ['openaiLocalShell', openai.openaiLocalShell],
  ['agentsShell', openai.agentsShell],
])('%s', (_, make) => {
  it.each([
    [{ interceptor: [{ pattern: '(', tool: 'x', message: '' }] }],
    [{ session: '/' }],
    [{ session: { run: 1 } as never as BashSession }],
    [{ terminal: 5 }],
    [null],
    ['/work'],
    [[]],
  ])('%j is thrown at once', (options) => {
    expect(() => make(options as never)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
  });
});
