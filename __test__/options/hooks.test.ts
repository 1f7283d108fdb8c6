import { type BashToolOptions, createBashTool, createTerminalTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { registerBashTools } from 'agent-bash/mcp';
import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, test } from 'vitest';

const server = { registerTool: () => {}, server: {} } as never;

const MAKERS: [name: string, make: (options: BashToolOptions) => unknown][] = [
  ['createBashTool', createBashTool],
  ['createTerminalTool', createTerminalTool],
  ['anthropicBash', anthropicBash],
  ['openaiShell', openaiShell],
  ['openaiLocalShell', openaiLocalShell],
  ['agentsShell', agentsShell],
  ['registerBashTools', (options) => registerBashTools(server, options)],
];

const HOOKS: [name: string, options: (value: unknown) => object, wanted: string][] = [
  ['perCall', (perCall) => ({ perCall }), 'a function'],
  ['run', (run) => ({ run }), 'a function'],
  ['onBeforeRun', (onBeforeRun) => ({ onBeforeRun }), 'a function'],
  ['onAfterRun', (onAfterRun) => ({ onAfterRun }), 'a function'],
  ['onPrompt', (onPrompt) => ({ onPrompt }), 'a function'],
  ['terminal.onStart', (onStart) => ({ terminal: { onStart } }), 'a function'],
  ['spill.allocate', (allocate) => ({ spill: { allocate } }), 'a function'],
  ['description', (description) => ({ description }), 'a string or a function'],
];

function refused(name: string, value: string, wanted: string) {
  return expect.objectContaining({
    name: 'BashError',
    code: 'ERR_BASH_INVALID_ARG',
    message: `${name}: ${value} is not ${wanted}`,
  });
}

describe.each(MAKERS)('%s', (_, make) => {
  test.each(HOOKS)('refuses a hook of a wrong type when it is called: %s', (name, options, wanted) => {
    expect(() => make(options(5))).toThrow(refused(name, '5', wanted));
    expect(() => make(options(null))).toThrow(refused(name, 'null', wanted));
  });

  test.each(HOOKS)('takes a function and nothing: %s', (_name, options) => {
    make(options(undefined));
    // An approval or a description is asked for at once, so it must answer.
    make(options(() => 'text'));
  });
});

test('a hook of a wrong type from perCall is the answer to the call', async () => {
  const tool = createBashTool({ perCall: () => ({ onAfterRun: 'log' }) as never });
  const outputs: unknown[] = [];
  for await (const output of tool.execute({ command: 'true' }, { toolCallId: 'call_1' })) outputs.push(output);
  expect(outputs).toEqual([{ error: 'onAfterRun: "log" is not a function', code: 'ERR_BASH_INVALID_ARG' }]);
});

test.each(['onOutput', 'onSnapshot', 'onPrompt'])('a sandbox refuses a listener of a wrong type: %s', (name) => {
  for (const make of [createLocalSandbox, createLocalSandboxSession]) {
    expect(() => make({ [name]: true })).toThrow(refused(name, 'true', 'a function'));
  }
});
