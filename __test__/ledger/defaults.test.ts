import { BackgroundRegistry, BashSession, bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { folder, hostResult, rejection } from '../support/index.ts';
import { all, Ledger } from './support.ts';

/** Calls a tool of either kind. */
async function call(tool: object, input: object, options: object = {}): Promise<void> {
  const { execute } = tool as { execute: (input: object, options: object) => AsyncIterable<unknown> };
  await all(execute(input, { toolCallId: 'c1', ...options }));
}

interface Case {
  tool: object;
  input: object;
}

const TOOLS: Record<string, (options: object) => Case> = {
  createBashTool: (options) => ({ tool: createBashTool(options), input: { command: 'echo x' } }),
  anthropicBash: (options) => ({ tool: anthropicBash(options), input: { command: 'echo x' } }),
  openaiShell: (options) => ({ tool: openaiShell(options), input: { action: { commands: ['echo x'] } } }),
  openaiLocalShell: (options) => ({
    tool: openaiLocalShell(options),
    input: { action: { type: 'exec', command: ['echo', 'x'] } },
  }),
};

describe('a command has an entry by default', () => {
  test.each(Object.entries(TOOLS))('of %s, with the id of the tool call', async (_, make) => {
    const ledger = new Ledger();
    const { tool, input } = make({ actor: { agent: 'a' } });
    await call(tool, input);
    expect(await ledger.last()).toMatchObject({
      command: expect.stringMatching(/echo '?x'?/),
      state: 'exited',
      actor: { agent: 'a', toolCallId: 'c1' },
      decidedBy: null,
    });
    expect(await ledger.read()).toHaveLength(1);
  });

  test.each(Object.entries(TOOLS))('of %s, and not if the option or the environment says no', async (_, make) => {
    const ledger = new Ledger();
    const { tool, input } = make({ ledger: false });
    await call(tool, input);
    expect(ledger.files()).toEqual([]);
    process.env.AGENT_BASH_LEDGER = 'off';
    await call(make({}).tool, input);
    expect(ledger.files()).toEqual([]);
    await call(make({ ledger: true }).tool, input);
    expect(await ledger.read()).toHaveLength(1);
  });

  test('of a tool in a session and in the background', async () => {
    const ledger = new Ledger();
    const session = new BashSession();
    const registry = new BackgroundRegistry();
    onTestFinished(async () => {
      await session.close();
      await registry.close();
    });
    await call(createBashTool({ session }), { command: 'cd /' });
    expect(await ledger.last()).toMatchObject({ command: 'cd /', actor: { toolCallId: 'c1' }, state: 'exited' });
    await call(createBashTool({ registry }), { command: 'sleep 60', mode: 'background' });
    expect(await ledger.last()).toMatchObject({
      command: 'sleep 60',
      state: 'backgrounded',
      actor: { toolCallId: 'c1' },
    });
  });

  test('of a tool, where a person has approved', async () => {
    const ledger = new Ledger();
    const messages = [
      {
        role: 'assistant',
        content: [{ type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' }],
      },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }] },
    ];
    await call(
      createBashTool({ safety: { onAsk: 'deny' }, cwd: folder() }),
      { command: 'git clean -fd' },
      { messages },
    );
    expect(await ledger.last()).toMatchObject({ command: 'git clean -fd', verdict: 'ask', decidedBy: 'host' });
  });

  test('of a tool that refuses it', async () => {
    const ledger = new Ledger();
    await call(createBashTool(), { command: 'rm -rf /' });
    expect(await ledger.last()).toMatchObject({ command: 'rm -rf /', state: 'refused', actor: { toolCallId: 'c1' } });
  });

  test('of `agent-bash run`, and not with AGENT_BASH_LEDGER=off', async () => {
    const ledger = new Ledger();
    const on = new Program({ AGENT_BASH_LEDGER: '', XDG_STATE_HOME: ledger.state });
    expect((await on.run('run', 'exit 4')).code).toBe(4);
    expect(await ledger.last()).toMatchObject({ command: 'exit 4', exitCode: 4 });
    await on.run('run', '-b', 'true');
    expect(await ledger.last()).toMatchObject({ command: 'true', taskId: expect.stringMatching(/./) });
    const off = new Program({ AGENT_BASH_LEDGER: 'off', XDG_STATE_HOME: ledger.state });
    await off.run('run', 'exit 5');
    expect(await ledger.read()).toHaveLength(2);
  });
});

describe('a command has no entry by default', () => {
  test('of bash(), a registry and a session, unless AGENT_BASH_LEDGER=on', async () => {
    const ledger = new Ledger();
    const registry = new BackgroundRegistry();
    const session = new BashSession();
    onTestFinished(async () => {
      await session.close();
      await registry.close();
    });
    const run = async () => {
      await bash('true');
      await session.run('true');
      await registry.wait((await registry.start('true')).id);
    };
    await run();
    expect(ledger.files()).toEqual([]);
    process.env.AGENT_BASH_LEDGER = 'on';
    await run();
    expect(await ledger.read()).toHaveLength(3);
    await bash('true', { ledger: false });
    expect(await ledger.read()).toHaveLength(3);
  });

  test('of what runs in a sandbox, or by a function of the host', async () => {
    const ledger = new Ledger();
    const sandbox = await createLocalSandboxSession();
    await call(createBashTool({ sandbox }), { command: 'true' });
    const seen: object[] = [];
    const run = (command: string, options = {}) => {
      seen.push(options);
      return bash(command, options);
    };
    await call(createBashTool({ run }), { command: 'true' });
    expect(seen[0]).not.toHaveProperty('ledger');
    expect(ledger.files()).toEqual([]);
  });

  test('AGENT_BASH_LEDGER holds for all processes below', async () => {
    const ledger = new Ledger();
    const source = `console.log(JSON.stringify((await bash('echo $AGENT_BASH_LEDGER', { warm: false })).stdout));`;
    expect(await hostResult(source, { env: { ...ledger.env, AGENT_BASH_LEDGER: 'on' } })).toBe('on\n');
    expect(await ledger.read()).toHaveLength(1);
  });
});

describe('the options of an entry', () => {
  test.each([
    [{ ledger: 1 }, 'ledger'],
    [{ ledger: 'on' }, 'ledger'],
    [{ actor: 'me' }, 'actor'],
    [{ actor: { agent: 1 } }, 'actor.agent'],
    [{ actor: { name: 'me' } }, 'actor.name'],
    [{ actor: [] }, 'actor'],
  ])('of the wrong type are ERR_BASH_INVALID_ARG: %o', async (options, name) => {
    const { code, message } = await rejection(() => bash('true', options as object));
    expect(code).toBe('ERR_BASH_INVALID_ARG');
    expect(message).toContain(name);
  });

  test('may be left out by undefined, and a long text is cut', async () => {
    const ledger = new Ledger();
    await ledger.run('true', { actor: undefined });
    expect((await ledger.last()).actor).toBeNull();
    await ledger.run('true', { actor: {} });
    expect((await ledger.last()).actor).toBeNull();
    await ledger.run('true', { actor: { agent: 'é'.repeat(5000), user: undefined } });
    expect((await ledger.last()).actor).toEqual({ agent: 'é'.repeat(200) });
  });
});
