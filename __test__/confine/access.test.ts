import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession } from 'agent-bash';
import { type AccessRequest, type BashToolInput, type BashToolOptions, createBashTool } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { folder, linuxTest } from '../support/index.ts';

const schema = (options: BashToolOptions) =>
  createBashTool(options).inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }) as {
    properties: Record<string, unknown>;
    required: string[];
  };

describe('the input', () => {
  test('has access only where the host answers', () => {
    expect(Object.keys(schema({}).properties)).not.toContain('access');
    const asks = schema({ onAccess: () => true });
    expect(asks.properties.access).toMatchObject({
      type: ['object', 'null'],
      required: ['write', 'network', 'reason'],
    });
    expect(asks.required).toContain('access');
  });

  test.each([
    [{ write: ['/x'] }, 'access must have a reason'],
    [{ write: '/x', reason: 'r' }, 'access must have write as an array'],
    [{ network: [1], reason: 'r' }, 'access must have network as an array'],
    ['all', 'access must be an object'],
  ])('%j is no access', async (access, message) => {
    const input = { command: 'true', access } as BashToolInput;
    const { output } = await callTool({ onAccess: () => true }, input);
    expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: expect.stringContaining(message) });
  });

  test('is ignored, with a note, without onAccess', async () => {
    const { output } = await callTool({}, { command: 'true', access: { write: ['/'], reason: 'r' } });
    expect(output).toMatchObject({ exitCode: 0, notes: ['ignored input: access'] });
  });

  test('onAccess is a function', () => {
    expect(() => createBashTool({ onAccess: true as never })).toThrow('onAccess');
  });
});

/** A tool in a directory of its own, beside another directory, and what its host was asked. */
function asking(answer: boolean | 'session' | Error, more: BashToolOptions = {}) {
  const base = folder();
  const [cwd, other] = [join(base, 'root'), join(base, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  const asked: AccessRequest[] = [];
  const onAccess = (request: AccessRequest) => {
    asked.push(request);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const tool = createBashTool({ cwd, confine: 'workspace', onAccess, ...more });
  const run = async (input: BashToolInput) => {
    let last: unknown;
    for await (const output of tool.execute(input, { toolCallId: 'call-1' })) last = output;
    return last as { error?: string; code?: string; exitCode?: number };
  };
  return { base, cwd, other, asked, run };
}

describe('an impossible request is refused before the host is asked, and nothing runs', () => {
  test.each([
    ['../none', 'does not exist'],
    ['/proc/sys', 'belongs to the kernel'],
    ['.git/hooks', 'is protected by the entry'],
    ['/', 'cannot be changed as a whole'],
  ])('write %s', async (path, why) => {
    const { cwd, asked, run } = asking(true);
    mkdirSync(join(cwd, '.git/hooks'), { recursive: true });
    const output = await run({ command: 'touch ran', access: { write: [path], reason: 'r' } });
    expect(output).toMatchObject({ code: 'ERR_BASH_CONFINEMENT', error: expect.stringContaining(why) });
    expect(asked).toEqual([]);
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test.each(['https://a.example', '*', 'a.example:0'])('network %s', async (entry) => {
    const { asked, run } = asking(true);
    const output = await run({ command: 'true', access: { network: [entry], reason: 'r' } });
    expect(output.error).toContain('access.network');
    expect(asked).toEqual([]);
  });

  test('a command that the safety engine refuses', async () => {
    const { other, asked, run } = asking(true);
    const output = await run({ command: 'rm -rf /', access: { write: [other], reason: 'r' } });
    expect(output.code).toBe('ERR_BASH_BLOCKED');
    expect(asked).toEqual([]);
  });
});

describe('the host', () => {
  linuxTest('is asked once, with what is missing, resolved', async () => {
    const { cwd, other, asked, run } = asking(true);
    const access = { write: ['../other', '.'], network: ['Registry.Example.org:443'], reason: 'why' };
    expect(await run({ command: 'echo hi > ../other/x', access })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(other, 'x'), 'utf8')).toBe('hi\n');
    expect(asked).toEqual([
      {
        command: 'echo hi > ../other/x',
        cwd,
        toolCallId: 'call-1',
        write: [other],
        network: ['registry.example.org:443'],
        reason: 'why',
      },
    ]);
  });

  linuxTest('grants it to one command', async () => {
    const { asked, run } = asking(true);
    await run({ command: 'echo hi > ../other/x', access: { write: ['../other'], reason: 'r' } });
    expect((await run({ command: 'echo hi > ../other/y' })).exitCode).not.toBe(0);
    expect(asked.length).toBe(1);
  });

  linuxTest('grants it for the session, and is not asked again', async () => {
    const { asked, run } = asking('session');
    const access = { write: ['../other'], reason: 'r' };
    await run({ command: 'echo hi > ../other/x', access });
    expect(await run({ command: 'echo hi > ../other/y' })).toMatchObject({ exitCode: 0 });
    expect(await run({ command: 'echo hi > ../other/z', access })).toMatchObject({ exitCode: 0 });
    expect(asked.length).toBe(1);
  });

  test.each([false, new Error('away')])('refuses: %s', async (answer) => {
    const { cwd, run } = asking(answer);
    const output = await run({ command: 'touch ran', access: { write: ['../other'], reason: 'r' } });
    expect(output).toMatchObject({ code: 'ERR_BASH_CONFINEMENT', error: expect.stringContaining('nothing was run') });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test('is not asked for access that is allowed already, or without confinement', async () => {
    const { asked, run } = asking(false);
    expect(await run({ command: 'true', access: { write: ['.'], reason: 'r' } })).toMatchObject({ exitCode: 0 });
    const free = asking(false, { confine: 'off' });
    expect(await free.run({ command: 'true', access: { write: ['/etc'], reason: 'r' } })).toMatchObject({
      exitCode: 0,
    });
    expect([...asked, ...free.asked]).toEqual([]);
  });

  linuxTest('grants it to a session alone', async () => {
    const { cwd, other, asked, run } = asking('session');
    await using session = new BashSession({ cwd, confine: 'workspace' });
    const { output } = await callTool(
      { session, onAccess: () => 'session' },
      { command: `echo hi > ${other}/x`, access: { write: [other], reason: 'r' } },
    );
    expect(output).toMatchObject({ exitCode: 0 });
    const again = await callTool({ session, onAccess: () => false }, `echo hi > ${other}/y`);
    expect(again.output).toMatchObject({ exitCode: 0 });
    expect((await run({ command: `echo hi > ${other}/z` })).exitCode).not.toBe(0);
    expect(asked).toEqual([]);
  });
});
