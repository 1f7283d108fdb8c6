import { createBashTool } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from './fixtures/json-schema.ts';
import { MAJORS } from './fixtures/majors.ts';

const { inputSchema } = createBashTool();
const standard = inputSchema['~standard'];
const FIELDS = [
  'command',
  'mode',
  'timeout_ms',
  'cwd',
  'head',
  'tail',
  'check_pid',
  'kill_pid',
  'wait_pid',
  'port',
  'pattern',
  'recall',
];
const ONE = 'exactly one of command, check_pid, kill_pid, wait_pid and recall must be given';

describe('the input schema', () => {
  it('keeps the rules of strict modes', () => {
    const schema = standard.jsonSchema.input({ target: 'draft-07' }) as unknown as JsonSchema;
    expect(schema.type).toBe('object');
    expect(schema.additionalProperties).toBe(false);
    expect(Object.keys(schema.properties)).toEqual(FIELDS);
    expect(schema.required).toEqual(FIELDS);
    const keywords = new Set(Object.values(schema.properties).flatMap((property) => Object.keys(property)));
    expect([...keywords].sort()).toEqual(['description', 'enum', 'type']);
    for (const field of FIELDS) expect(schema.properties[field]?.type).toContain('null');
    expect(schema.properties.mode?.enum).toEqual(['default', 'slow', 'background', null]);
  });

  it('is a new object each time, and only for JSON Schema drafts', () => {
    expect(standard.jsonSchema.input({ target: 'draft-07' })).not.toBe(
      standard.jsonSchema.input({ target: 'draft-07' }),
    );
    expect(standard.jsonSchema.output({ target: 'draft-2020-12' })).toHaveProperty('required', FIELDS);
    expect(() => standard.jsonSchema.input({ target: 'openapi-3.0' })).toThrow('openapi-3.0');
  });

  it.each([
    { command: 'ls' },
    { command: '' },
    { command: 'ls', mode: null, timeout_ms: null, cwd: null, head: null, tail: null },
    { command: 'ls', mode: 'slow', timeout_ms: 1.5, cwd: 'x', head: 1, tail: 2_000 },
    { command: 'ls', timeout_ms: -1 },
    { command: 'ls', mode: 'background' },
    { command: 'ls', check_pid: null, kill_pid: null, description: 'lists' },
    { check_pid: 7 },
    { command: null, kill_pid: 7, check_pid: null },
    { check_pid: 7, tail: 5, mode: null },
    { wait_pid: 7, port: 3000, pattern: 'ready', timeout_ms: 5_000 },
    { wait_pid: 7, port: null, pattern: null },
  ])('takes %j', (input) => {
    expect(standard.validate(input)).toEqual({ value: input });
  });

  it.each([
    [null, 'the input must be an object'],
    ['ls', 'the input must be an object'],
    [[], 'the input must be an object'],
    [{}, ONE],
    [{ command: null }, ONE],
    [{ mode: 'slow' }, ONE],
    [{ command: 'ls', check_pid: 7 }, ONE],
    [{ command: '', kill_pid: 7 }, ONE],
    [{ check_pid: 7, kill_pid: 7 }, ONE],
    [{ check_pid: 0 }, 'check_pid must be the pid of a background process'],
    [{ check_pid: '7' }, 'check_pid must be the pid of a background process'],
    [{ kill_pid: 1.5 }, 'kill_pid must be the pid of a background process'],
    [{ wait_pid: -1 }, 'wait_pid must be the pid of a background process'],
    [{ wait_pid: 7, port: 0 }, 'port must be a port, 1 to 65535'],
    [{ wait_pid: 7, port: 65_536 }, 'port must be a port, 1 to 65535'],
    [{ wait_pid: 7, pattern: '' }, 'pattern must be a regular expression of at most 1000 characters'],
    [{ command: ['ls'] }, 'command must be a string'],
    [{ command: 'ls', mode: 'fast' }, 'mode must be "default", "slow" or "background"'],
    [{ command: 'ls', timeout_ms: '5' }, 'timeout_ms must be a number of milliseconds'],
    [{ command: 'ls', timeout_ms: Number.NaN }, 'timeout_ms must be a number of milliseconds'],
    [{ command: 'ls', timeout_ms: Number.POSITIVE_INFINITY }, 'timeout_ms must be a number of milliseconds'],
    [{ command: 'ls', cwd: 1 }, 'cwd must be a string'],
    [{ command: 'ls', head: 0 }, 'head must be a whole number of at least 1'],
    [{ command: 'ls', head: 1.5 }, 'head must be a whole number of at least 1'],
    [{ command: 'ls', tail: -3 }, 'tail must be a whole number of at least 1'],
    [{ command: 'ls', tail: '3' }, 'tail must be a whole number of at least 1'],
    [{ command: 'ls', tail: 2 ** 53 }, 'tail must be a whole number of at least 1'],
  ])('refuses %j', (input, message) => {
    expect(standard.validate(input).issues?.map((issue) => issue.message)).toEqual([message]);
  });

  it('names everything that is wrong', () => {
    expect(standard.validate({ mode: 1, head: 0 }).issues?.map((issue) => issue.path)).toEqual([
      ['mode'],
      ['head'],
      [],
    ]);
  });

  it.each(MAJORS)('%s understands it', async (_name, { ai }) => {
    const schema = ai.asSchema(inputSchema);
    expect(await schema.jsonSchema).toMatchObject({ required: FIELDS, additionalProperties: false });
    expect(await schema.validate?.({ command: 'ls' })).toEqual({ success: true, value: { command: 'ls' } });
    expect(await schema.validate?.({ command: 1 })).toMatchObject({ success: false });
  });
});
