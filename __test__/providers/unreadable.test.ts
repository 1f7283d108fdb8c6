import { createBashTool, createTerminalTool, createToolApproval } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { describe, expect, test } from 'vitest';

const SENTENCE = 'the input cannot be read: not now';

/** An object with these fields, of which one throws. */
function throwing(name: string, fields: object = {}): never {
  const get = () => {
    throw new Error('not now');
  };
  return Object.defineProperty(Array.isArray(fields) ? [...fields] : { ...fields }, name, {
    get,
    enumerable: true,
  }) as never;
}

const run = { commands: ['touch /tmp/never'] };
const exec = { type: 'exec', command: ['touch', '/tmp/never'] };
const ENV = { action: { ...exec, env: throwing('A') } } as never;

const TOOLS = [
  ['createBashTool', createBashTool, throwing('command')],
  ['createBashTool, a field beside the command', createBashTool, throwing('mode', { command: 'touch /tmp/never' })],
  ['createBashTool, an unknown field', createBashTool, throwing('more', { command: 'touch /tmp/never' })],
  ['createTerminalTool', createTerminalTool, throwing('action')],
  ['anthropicBash', anthropicBash, throwing('command')],
  ['anthropicBash, a restart', anthropicBash, throwing('restart', { command: 'touch /tmp/never' })],
  ['openaiShell', openaiShell, throwing('action')],
  ['openaiShell, in the action', openaiShell, { action: throwing('timeoutMs', run) } as never],
  ['openaiShell, in the list', openaiShell, { action: { commands: throwing('0', ['true']) } } as never],
  ['openaiLocalShell', openaiLocalShell, { action: throwing('env', exec) } as never],
  ['openaiLocalShell, in the variables', openaiLocalShell, ENV],
] as const;

describe.each(TOOLS)('%s', (_, make, input) => {
  test('a getter that throws is an answer to the model', async () => {
    const tool = make();
    const outputs: unknown[] = [];
    const answered = await tool.execute(input, { toolCallId: 'call_1' });
    if (Symbol.asyncIterator in answered) for await (const output of answered) outputs.push(output);
    else outputs.push(answered);
    expect(outputs).toHaveLength(1);
    expect(JSON.stringify(outputs)).toContain(SENTENCE);
  });

  test('the schema has it as an issue', () => {
    const { validate } = make().inputSchema['~standard'];
    expect(validate(input)).toEqual({ issues: [{ message: SENTENCE, path: [] }] });
  });
});

test('a shell of the agents package answers likewise', async () => {
  const { output } = await agentsShell().run(throwing('commands'));
  expect(output).toEqual([{ stdout: '', stderr: SENTENCE, outcome: { type: 'exit', exitCode: 126 } }]);
});

test.each([[throwing('command')], [throwing('action')], [{ action: throwing('commands') } as never]])(
  'an approval refuses an input that it cannot read: %#',
  async (input) => {
    const approval = createToolApproval({ tool: openaiShell() });
    const bash = createToolApproval();
    for (const each of [approval, bash]) {
      expect(await each.judge(input, { toolCallId: 'call_1' })).toMatchObject({ verdict: 'deny', reason: 'not now' });
      expect(await each.needsApproval(input, { toolCallId: 'call_1' })).toBe(false);
    }
    expect(await bash(input)).toEqual({ type: 'denied', reason: 'not now' });
  },
);

test('a field is read once, so the command that runs was checked', async () => {
  let reads = 0;
  const input = Object.defineProperty({}, 'command', {
    enumerable: true,
    get() {
      reads += 1;
      return reads === 1 ? 'echo first' : 7;
    },
  }) as { command: string };
  const outputs: unknown[] = [];
  for await (const output of createBashTool().execute(input, { toolCallId: 'call_1' })) outputs.push(output);
  expect(outputs.at(-1)).toMatchObject({ stdout: 'first\n' });
});
