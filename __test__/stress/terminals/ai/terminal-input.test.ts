import { createTerminalTool, type TerminalToolInput } from 'agent-bash/ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../../ai/fixtures/json-schema.ts';
import { MAJORS } from '../../../ai/fixtures/majors.ts';
import { terminals } from '../../../ai/fixtures/terminal.ts';

const { inputSchema } = createTerminalTool();
const standard = inputSchema['~standard'];
const FIELDS = [
  'action',
  'id',
  'command',
  'cwd',
  'cols',
  'rows',
  'text',
  'paste',
  'keys',
  'pattern',
  'idle_ms',
  'timeout_ms',
  'changed',
];

describe('the input schema of the terminal tool', () => {
  it('keeps the rules of strict modes', () => {
    const schema = standard.jsonSchema.input({ target: 'draft-07' }) as unknown as JsonSchema;
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(Object.keys(schema.properties)).toEqual(FIELDS);
    expect(schema.required).toEqual(FIELDS);
    const keywords = new Set(Object.values(schema.properties).flatMap((property) => Object.keys(property)));
    expect([...keywords].sort()).toEqual(['description', 'enum', 'items', 'type']);
    for (const field of FIELDS.slice(1)) expect(schema.properties[field]?.type).toContain('null');
    expect(schema.properties.action?.enum).toEqual(['start', 'send', 'read', 'wait', 'resize', 'stop', 'list']);
  });

  it('is a new object each time, and only for JSON Schema drafts', () => {
    const draft = { target: 'draft-07' };
    expect(standard.jsonSchema.input(draft)).not.toBe(standard.jsonSchema.input(draft));
    expect(() => standard.jsonSchema.output({ target: 'openapi-3.0' })).toThrow('openapi-3.0');
  });

  it.each([
    { action: 'start', command: 'vim' },
    { action: 'start', command: '', cwd: '..', cols: 500, rows: 200, id: null, text: null },
    { action: 'send', text: '' },
    { action: 'send', id: 't1', paste: 'x', keys: null },
    { action: 'send', keys: [] },
    { action: 'send', keys: 'Up Up' },
    { action: 'wait' },
    { action: 'wait', text: 'x', idle_ms: 60_000, timeout_ms: 1.5 },
    { action: 'resize', cols: 1 },
    { action: 'read', changed: true },
    { action: 'list', id: 't1', extra: true },
  ])('takes %j', (input) => {
    expect(standard.validate(input)).toEqual({ value: input });
  });

  it.each([
    [null, 'the input must be an object'],
    [[], 'the input must be an object'],
    [{}, 'action must be one of start, send, read, wait, resize, stop, list'],
    [{ action: 'type' }, 'action must be one of start, send, read, wait, resize, stop, list'],
    [{ action: 'start' }, 'start needs a command'],
    [
      { action: 'start', command: 'vim', id: 't1' },
      'start gives the id of the new terminal: give either a command to start or the id of a terminal',
    ],
    [
      { action: 'send', id: 't1', text: 'x', command: 'ls' },
      'send takes no command: give one to start, or text to send',
    ],
    [{ action: 'send', id: 't1' }, 'send needs text, paste or keys'],
    [{ action: 'send', text: 7 }, 'text must be a string'],
    [{ action: 'send', text: 'a\0' }, 'text must not hold a NUL: the key Ctrl-Space sends one'],
    [{ action: 'send', paste: '\0' }, 'paste must not hold a NUL: the key Ctrl-Space sends one'],
    [{ action: 'send', text: 'x'.repeat(100_001) }, 'text must have at most 100000 characters: write a file for more'],
    [{ action: 'send', keys: ['Up', 7] }, 'keys must be an array of names of keys'],
    [{ action: 'send', keys: Array(1_001).fill('Up') }, 'keys must be at most 1000'],
    [{ action: 'resize', id: 't1' }, 'resize needs cols or rows'],
    [{ action: 'resize', cols: 0 }, 'cols must be a whole number from 1 to 500'],
    [{ action: 'resize', rows: 70_000 }, 'rows must be a whole number from 1 to 200'],
    [{ action: 'start', command: 'vim', cols: 70_000 }, 'cols must be a whole number from 1 to 500'],
    [{ action: 'start', command: 'vim', rows: 1.5 }, 'rows must be a whole number from 1 to 200'],
    [{ action: 'start', command: ['vim'] }, 'command must be a string'],
    [{ action: 'read', id: 1 }, 'id must be a string'],
    [{ action: 'read', changed: 'yes' }, 'changed must be true or false'],
    [{ action: 'wait', text: 'a', pattern: 'b' }, 'wait takes text or a pattern, not both'],
    [{ action: 'wait', pattern: 'x'.repeat(1_001) }, 'pattern must have at most 1000 characters'],
    [{ action: 'wait', timeout_ms: '5' }, 'timeout_ms must be a number of milliseconds'],
    [{ action: 'wait', idle_ms: 0 }, 'idle_ms must be a whole number from 1 to 60000'],
  ])('refuses %j', async (input, message) => {
    expect(standard.validate(input).issues?.map((issue) => issue.message)).toEqual([message]);
    const { refused } = terminals();
    expect(await refused(input as unknown as TerminalToolInput)).toEqual(['ERR_BASH_INVALID_ARG', message]);
  });

  it.each(MAJORS)('%s understands it', async (_name, { ai }) => {
    const schema = ai.asSchema(inputSchema);
    expect(await schema.jsonSchema).toMatchObject({ required: FIELDS });
    expect(await schema.validate?.({ action: 'list' })).toEqual({ success: true, value: { action: 'list' } });
    expect(await schema.validate?.({ action: 'start' })).toMatchObject({ success: false });
  });
});

describe('input that no terminal can do', () => {
  it('a NUL in the command starts nothing', async () => {
    const { refused } = terminals();
    expect((await refused({ action: 'start', command: 'echo \0' }))[0]).toBe('ERR_BASH_INVALID_ARG');
  });

  it('an invalid pattern is named', async () => {
    const { see, refused } = terminals();
    await see({ action: 'start', command: 'echo hi; cat' });
    const [code, error] = await refused({ action: 'wait', pattern: '(' });
    expect(code).toBe('ERR_BASH_INVALID_ARG');
    expect(error).toMatch(/^pattern: /);
    expect(await see({ action: 'wait', pattern: 'h{i|hi' })).toMatchObject({ reason: 'appeared' });
  });

  it('what does not belong to an action is ignored with a note', async () => {
    const { see } = terminals();
    const input = { action: 'start', command: 'cat', text: 'x', timeout_ms: 5, why: 'so' } as const;
    expect((await see(input)).notes).toEqual(['ignored input: text, timeout_ms, why']);
    expect((await see({ action: 'read', rows: 5 })).text).toMatch(/\n\n\[ignored input: rows\]$/);
  });

  it('100,000 characters are typed whole', async () => {
    const { see, until } = terminals();
    const lines = `${'x'.repeat(99)}\n`.repeat(1_000);
    await see({ action: 'start', command: 'stty -echo; echo ready; head -c 100000 | md5sum' });
    await until('ready');
    await see({ action: 'send', text: lines });
    const { createHash } = await import('node:crypto');
    await until(createHash('md5').update(lines).digest('hex'));
  });
});

it('any input gives plain data and never throws', async () => {
  const { tool, see } = terminals();
  await see({ action: 'start', command: 'cat >/dev/null' });
  const field = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null), fc.anything());
  const input = fc.oneof(
    fc.anything(),
    fc.record(
      {
        action: fc.constantFrom('read', 'wait', 'resize', 'list', 'send'),
        id: fc.oneof(fc.constant('t1'), field),
        ...Object.fromEntries(
          ['cols', 'rows', 'text', 'keys', 'pattern', 'changed', 'command'].map((name) => [name, field]),
        ),
        timeout_ms: fc.constant(1),
      },
      { requiredKeys: ['action'] },
    ),
  );
  // Typed text takes time to settle.
  const abortSignal = AbortSignal.timeout(20_000);
  await fc.assert(
    fc.asyncProperty(input, async (given) => {
      const output = await tool.execute(given as TerminalToolInput, { toolCallId: '1', abortSignal });
      expect(JSON.parse(JSON.stringify(output))).toEqual(structuredClone(output));
      expect(typeof tool.toModelOutput({ output }).value).toBe('string');
    }),
    { numRuns: 300, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
  );
});
