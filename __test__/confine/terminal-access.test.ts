import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type AccessRequest,
  type BashToolOptions,
  createTerminalTool,
  type TerminalToolInput,
  type TerminalView,
} from 'agent-bash/ai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linuxTest } from '../support/index.ts';

/** A terminal tool in a directory of its own, beside another directory, and what its host was asked. */
function asking(answer: boolean | 'session', more: BashToolOptions = {}) {
  // Not in /tmp, which confined commands have for themselves.
  const base = mkdtempSync(join(homedir(), 'agent-bash-test-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [cwd, other] = [join(base, 'root'), join(base, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  const asked: AccessRequest[] = [];
  const onAccess = (request: AccessRequest) => {
    asked.push(request);
    return answer;
  };
  const tool = createTerminalTool({ cwd, confine: 'workspace', onAccess, ...more });
  onTestFinished(() => tool.close());
  /** Starts a command and waits for its end. */
  const run = async (input: Omit<TerminalToolInput, 'action'>) => {
    const call = { toolCallId: 'call-1' };
    const started = await tool.execute({ action: 'start', ...input }, call);
    if ('error' in started || 'terminals' in started) return { output: started, text: '' };
    const output = await tool.execute({ action: 'wait', id: started.id, timeout_ms: 20_000 }, call);
    return { output: output as TerminalView, text: tool.toModelOutput({ output }).value };
  };
  return { cwd, other, asked, tool, run };
}

const properties = (options: BashToolOptions) =>
  createTerminalTool(options).inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }) as {
    properties: Record<string, { description?: string }>;
    required: string[];
  };

describe('access in the terminal tool', () => {
  test('is in the input only where the host answers', () => {
    expect(Object.keys(properties({}).properties)).not.toContain('access');
    const asks = properties({ onAccess: () => true });
    expect(asks.properties.access?.description).toMatch(/^start: /);
    expect(asks.required).toContain('access');
  });

  linuxTest('is granted to one start', async () => {
    const { cwd, other, asked, run } = asking(true);
    const command = 'touch ../other/x';
    const access = { write: ['../other'], reason: 'why' };
    expect((await run({ command, access })).output).toMatchObject({ end: { exitCode: 0 } });
    expect(existsSync(join(other, 'x'))).toBe(true);
    expect(asked).toEqual([{ command, cwd, toolCallId: 'call-1', write: [other], network: [], reason: 'why' }]);
    const { output, text } = await run({ command: 'touch ../other/y' });
    expect(output).toMatchObject({ end: { exitCode: 1 }, confinement: { deniedTotal: 1 } });
    expect(text).toContain(`run the command again with access {"write":["${other}"]} and a reason`);
  });

  linuxTest('is granted to the later ones, too', async () => {
    const { asked, run } = asking('session');
    await run({ command: 'touch ../other/x', access: { write: ['../other'], reason: 'r' } });
    expect((await run({ command: 'touch ../other/y' })).output).toMatchObject({ end: { exitCode: 0 } });
    expect(asked.length).toBe(1);
  });

  test.each([
    ['refused', false, '../other', 'the host has refused this access'],
    ['impossible', true, '../none', 'does not exist'],
  ] as const)('that is %s starts nothing', async (_, answer, path, why) => {
    const { cwd, run } = asking(answer);
    const { output } = await run({ command: 'touch ran', access: { write: [path], reason: 'r' } });
    expect(output).toMatchObject({ code: 'ERR_BASH_CONFINEMENT', error: expect.stringContaining(why) });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  test('without a reason is no input', async () => {
    const { run } = asking(true);
    const { output } = await run({ command: 'true', access: { write: ['/'] } as never });
    expect(output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', error: expect.stringContaining('reason') });
  });

  test('is ignored, with a note, where the host does not answer or another action takes none', async () => {
    const deaf = asking(true, { onAccess: undefined });
    const access = { write: ['/'], reason: 'r' };
    expect((await deaf.run({ command: 'true' })).output).toMatchObject({ notes: [] });
    const started = await deaf.tool.execute({ action: 'start', command: 'true', access }, { toolCallId: 'c' });
    expect(started).toMatchObject({ notes: ['ignored input: access'] });
    const { tool, asked, run } = asking(true);
    await run({ command: 'true' });
    const read = await tool.execute({ action: 'read', access }, { toolCallId: 'c' });
    expect(read).toMatchObject({ notes: ['ignored input: access'] });
    expect(asked).toEqual([]);
  });
});
